"""Greetings, thanks and assent in languages of which nothing else is known."""

from __future__ import annotations

from typing import Final

from langmemory.languages.language import word_set

WORLDWIDE: Final = word_set(
    """merci beaucoup bonjour bonsoir bonne journée nuit soirée salut coucou oui non parfait super génial
    très bien entendu compris voilà à bientôt demain plus tard au revoir de rien d accord ça va marche
    grazie mille buongiorno buonasera buonanotte ciao sì va bene perfetto capito arrivederci domani prego
    obrigado obrigada olá bom dia boa tarde noite sim não tá tchau até amanhã logo perfeito beleza valeu
    bedankt dank je wel hoi goedemorgen goedenavond doei tot morgen prima oké
    tack hej god morgon natt ja nej bra hejdå tak goddag farvel takk hei morn ha det
    kiitos moi hyvää huomenta joo dzięki dziękuję cześć dobrze tak nie dobranoc dzień dobry
    děkuji ahoj dobrý den ano köszönöm szia jó igen mulțumesc bună teşekkürler teşekkür ederim merhaba
    tamam evet hayır günaydın спасибо большое привет здравствуйте да нет хорошо пока ладно понятно доброе
    утро ночи дякую привіт добре ευχαριστώ γεια ναι όχι καλημέρα شكرا مرحبا نعم حسنا תודה שלום כן
    धन्यवाद नमस्ते हाँ ठीक है arigato konnichiwa hai terima kasih halo ya baik"""
)
