"""Records as machines and desks write them, that differ in (almost) nothing but an identifier.

``python -m benchmarks.records`` prints some of each kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date, timedelta
from random import Random
from typing import Final

NAMES: Final = (
    "Brandt", "Okafor", "Lindqvist", "Moreau", "Castellano", "Petrov", "Haddad", "Nakamura",
    "Whitcombe", "Silva", "Kowalski", "Jensen", "Adeyemi", "Fournier", "Bauer", "Oyelaran", "Tanaka",
    "Novak", "Greaves", "Marchetti", "Sorensen", "Yildiz", "Finch", "Delgado", "Hartmann", "Iyer",
    "Quigley", "Rossi", "Sandberg", "Ueda", "Vasquez", "Zeller",
)  # fmt: skip
FIRST: Final = (
    "Anna", "Bilal", "Carla", "Dmitri", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Karin",
    "Luca", "Mira", "Nadia", "Omar", "Petra", "Quentin", "Rosa", "Sven", "Tamsin", "Uma", "Viktor",
    "Wanda", "Yusuf", "Zoe", "Bea", "Colm", "Danuta",
)  # fmt: skip

# Every kind: id forms used in records, remarks ({id} {n} name {f} first name), queries ({q}).
REMARKS: Final[Mapping[str, tuple[str, ...]]] = {
    "rooms": (
        "room {id} has the broken radiator",
        "room {id} is booked by {n} all week",
        "room {id} needs new curtains before monday",
        "room {id} smells of paint, {f} aired it",
        "room {id} got the second projector from {f}",
        "the key of room {id} is with {n}",
        "{f} moved the whiteboard to room {id}",
        "room {id}: window handle loose, told {n}",
        "room {id} was given to {n} until june",
        "room {id} has no working socket left",
        "{n} complained about the noise in room {id}",
        "room {id} was cleaned late by {f}",
        "room {id} seats twelve, {f} counted",
        "carpet in room {id} gets replaced in autumn",
        "room {id} has two desks too many",
        "{f} left the laptop bag in room {id}",
        "room {id} is free after {n} checks out",
        "lamp over the door of room {id} flickers",
        "room {id} is where {n} does interviews",
        "the phone in room {id} is dead",
        "room {id} was locked, {f} has asked the porter",
        "blinds in room {id} are stuck halfway",
        "room {id} gets the new beds on thursday",
        "{n} wants room {id} for the workshop",
        "room {id} is too hot, says {f}",
        "water stain on the ceiling of room {id}",
        "room {id} has the quiet fridge for {n}",
    ),
    "invoices": (
        "Invoice {id} to {n} was paid late",
        "Invoice {id} to {n} is still open",
        "invoice {id} went to {n} without the discount",
        "{n} disputes two items on invoice {id}",
        "invoice {id}: {f} sent the second reminder",
        "Invoice {id} to {n} was cancelled and rewritten",
        "invoice {id} from {n} waits for approval",
        "{f} booked invoice {id} on the wrong account",
        "invoice {id} to {n} is paid in two instalments",
        "Invoice {id} has the old address of {n}",
        "invoice {id} came back, {n} has moved",
        "{n} paid invoice {id} three days early",
        "invoice {id} covers the repair work for {n}",
        "invoice {id} was short by 20, {f} knows",
        "{f} needs the delivery note for invoice {id}",
        "invoice {id} to {n} was sent by post",
        "Invoice {id} is with the lawyers of {n}",
        "invoice {id} was paid twice by {n}",
        "vat on invoice {id} is wrong, tell {f}",
        "invoice {id} goes to the head office of {n}",
        "invoice {id} was settled with a credit for {n}",
        "{n} asked for a copy of invoice {id}",
        "invoice {id} is due when {f} is back",
        "Invoice {id} got lost between {f} and accounting",
        "invoice {id} to {n} includes the travel costs",
        "{f} wrote off the rest of invoice {id}",
    ),
    "pull requests": (
        "PR {id} by {f} waits for a review",
        "PR {id} was merged by {f} on friday",
        "pull request {id} breaks the windows build again",
        "PR {id} needs a rebase, {f} knows",
        "pull request {id} from {f} adds retry logic",
        "PR {id} was closed without a merge",
        "{f} left eleven comments on PR {id}",
        "PR {id} touches the login page only",
        "pull request {id} bumps the linter to the newest",
        "PR {id} is blocked by the security review",
        "PR {id} lacks tests, {f} asked twice",
        "pull request {id} was reverted by {f} at night",
        "{f} split the cache change into PR {id}",
        "PR {id} fixes the date bug {f} found",
        "pull request {id} is a draft until {f} returns",
        "PR {id} renames half of the config keys",
        "PR {id} has a conflict in the lockfile",
        "pull request {id} got two approvals, {f} and {n}",
        "PR {id} removes the dead code {f} listed",
        "pull request {id} makes the importer twice as fast",
        "PR {id} is stale, {f} will close it",
        "PR {id} waits for the designers and {f}",
        "{f} wants PR {id} in the next release",
        "pull request {id} only changes the readme",
        "PR {id} fails one flaky test on {f}'s branch",
        "PR {id} was opened against the wrong base",
    ),
    "tickets": (
        "{id} is assigned to {f} since tuesday",
        "{id} waits for an answer from {n}",
        "{id}: export button does nothing in the app",
        "{id} was reopened by {f} this morning",
        "{id} is about the slow search for {n}",
        "{id} turned out to be a duplicate",
        "{f} closed {id} as not reproducible",
        "{id} is planned for the sprint after next",
        "{id}: {n} cannot reset the password",
        "{id} needs a screenshot from {n}",
        "{id} blocks the rollout at {n}",
        "{id} is done but {f} hasn't tested",
        "{id} got the label urgent from {f}",
        "{id} was estimated at five points by {f}",
        "{f} wrote the workaround into {id}",
        "{id}: wrong total in the report of {n}",
        "{id} moved to the backlog, {f} is away",
        "{id} is the one {n} calls about daily",
        "{id}: mails to {n} arrive twice",
        "{id} has no owner, ask {f}",
        "{id} goes out with the next patch for {n}",
        "{id} is a question, not a bug",
        "{id} was split, {f} keeps the first half",
        "{id}: the menu overlaps on small screens",
        "{id} is waiting for the logs from {n}",
        "{n} confirmed that {id} is fixed",
    ),
    "hosts": (
        "{id} was rebooted by {f} last night",
        "{id} runs out of disk every friday",
        "{id} is reserved for {f} until monday",
        "{id} has the new kernel since the weekend",
        "{f} took {id} out of the pool",
        "{id} shows high load after the backup",
        "{id} still has the old ssh keys",
        "{id} lost one of its two power supplies",
        "{id} hosts the test data of {n}",
        "{id} gets replaced when the budget is there",
        "fan on {id} is loud, {f} opened a case",
        "{id} drops packets since the switch change",
        "{id} was reinstalled by {f} from scratch",
        "{id} is the only one with local ssd",
        "clock on {id} was two minutes off",
        "{id} belongs to the project of {n}",
        "{id} is drained, {f} swaps the memory",
        "{id} alerts at night and {f} ignores it",
        "{id} carries the licence server for {n}",
        "{f} locked himself out of {id} again",
        "{id} has no monitoring agent, asked {f}",
        "{id} came back after three failed boots",
        "{id} is slow whenever {n} runs imports",
        "certificate on {id} was renewed by {f}",
        "{id} sits in the rack next to the door",
        "{id} is a spare for the customer {n}",
    ),
    "versions": (
        "version {id} fixed the crash {n} reported",
        "version {id} was pulled after two hours",
        "{n} is still running version {id}",
        "release {id} brought the dark theme for everybody",
        "release {id} was signed off by {f}",
        "version {id} needs the database upgrade first",
        "{f} forgot the changelog for version {id}",
        "version {id} broke the import for {n}",
        "release {id} only changed the translations, says {f}",
        "version {id} is the last with the old menu",
        "version {id} went out on a sunday",
        "release {id} has the faster search {f} built",
        "{n} skipped version {id} because of the holidays",
        "version {id} leaks memory on long runs",
        "release {id} was built twice by {f}",
        "version {id} is what the trainers at {n} use",
        "version {id} dropped support for old tablets",
        "release {id} got the security patch from {f}",
        "version {id} was never shipped to {n}",
        "release {id} has the wrong year in the footer",
        "version {id} made printing work for {n} again",
        "version {id} passed all checks except one",
        "release {id} was demoed to {n} in march",
        "{f} tagged version {id} on the wrong commit",
        "version {id} shows an empty page after login",
        "release {id} waits in the store for review",
    ),
    "lockers": (
        "locker {id} belongs to {f} from the workshop",
        "locker {id} is jammed, {f} has a crowbar",
        "locker {id} holds the spare helmets and gloves",
        "locker {id} is empty since {n} left",
        "{f} lost the key to locker {id}",
        "locker {id} has the first aid stuff inside",
        "locker {id} was given to {n} for a year",
        "locker {id} smells, {f} cleaned it twice",
        "the padlock on locker {id} is from {n}",
        "locker {id} has the paint and the brushes",
        "{n} shares locker {id} with a colleague",
        "locker {id} is for visitors, ask {f}",
        "locker {id} has a dent in the door",
        "{f} keeps the football shirts in locker {id}",
        "locker {id} was opened by mistake on monday",
        "locker {id} is reserved for {n} from may",
        "locker {id} stores the cables {f} sorted",
        "locker {id} gets a new lock next week",
        "hinge on locker {id} is loose, told {n}",
        "locker {id} has the umbrellas nobody wanted",
        "{f} swapped with {n} and got locker {id}",
        "locker {id} holds the keys of the van",
        "locker {id} is too small for the drill",
        "locker {id} has not been paid by {n}",
        "locker {id} is where {f} hides the biscuits",
        "nobody knows the code of locker {id}",
    ),
    "emails": (
        "{id} asked for the price list again",
        "{id} bounced twice, {f} checks the address",
        "{id} is the contact for the spring fair",
        "{id} wants to be off the newsletter",
        "{id} sent the signed contract this morning",
        "{id} belongs to the buyer at {n}",
        "{f} replied to {id} about the delay",
        "{id} gets the invoices in copy from now",
        "{id} never answers, better call {n}",
        "{id} registered for both workshops in june",
        "{id} has admin rights, {f} approved it",
        "{id} reported the broken link on tuesday",
        "{id} is on leave until the holidays end",
        "{id} took over the account from {n}",
        "{id} complained about the last delivery to {n}",
        "{id} needs an english version of everything",
        "{id} applied for the job, {f} has the papers",
        "{id} gets a reminder when {f} is back",
        "{f} met {id} at the trade show",
        "{id} ordered samples for the shop of {n}",
        "{id} lost the password a third time",
        "{id} cancelled the meeting with {n} for thursday",
        "{id} is the private address, not for work",
        "{id} forwarded the complaint to {f} yesterday",
        "{id} pays by card, never by transfer",
        "{id} asked whether {f} can come along",
    ),
    "paths": (
        "{id} was deleted by {f} by mistake",
        "{id} has the numbers {n} asked for",
        "{id} is still open on the laptop of {f}",
        "{id} is too big for the mail",
        "{f} overwrote {id} with an old copy",
        "{id} has broken umlauts in every line",
        "{id} came from {n} without a header row",
        "{id} needs to go to {f} before noon",
        "{id} is the only one with test data",
        "{id} could not be read by the importer",
        "{f} checked {id} and found nothing wrong",
        "{id} belongs to the audit of {n}",
        "{id} is encrypted, ask {f} for the key",
        "{id} stops in the middle of a row",
        "{id} was sent to {n} on friday",
        "{id} has duplicates, {f} cleans them up",
        "{id} was restored from the backup by {f}",
        "{id} is the version {n} signed off",
        "{id} has the wrong owner, chmod didn't help",
        "{id} took four hours to upload",
        "{f} put the corrected prices into {id}",
        "{id} is empty since the crash at night",
        "{id} can go when {n} has a copy",
        "{id} uses semicolons, the others use commas",
        "{id} was generated twice by the night job",
        "{id} lists everything {n} ordered in spring",
    ),
    "extensions": (
        "extension {id} is {f} in the warehouse",
        "extension {id} rings at the desk of {n}",
        "extension {id} is dead since the move",
        "extension {id} goes to the voicemail of {f}",
        "extension {id} was passed on to {n}",
        "extension {id} is the phone in the kitchen",
        "{f} can be reached on extension {id} after ten",
        "extension {id} has an echo, {f} reported it",
        "extension {id} is forwarded to the mobile of {n}",
        "extension {id} is busy all morning, try {f}",
        "the new colleague {n} has extension {id}",
        "extension {id} is the fax nobody uses",
        "extension {id} belongs to the night shift",
        "extension {id} can't call abroad, ask {f}",
        "extension {id} is still listed under {n}",
        "extension {id} rings in two rooms at once",
        "{f} and {n} share extension {id}",
        "extension {id} is for the lift emergency phone",
        "extension {id} gets a headset next week",
        "extension {id} shows the wrong name, should be {n}",
        "extension {id} is the hotline on weekends",
        "extension {id} was unplugged by {f} on monday",
        "{n} kept extension {id} after the promotion",
        "extension {id} is the doorbell of the yard",
        "extension {id} is meant for trainees only",
        "extension {id} records calls, {f} switched it on",
    ),
    "flights": (
        "flight {id} was two hours late",
        "flight {id} is the one {f} booked",
        "{n} missed flight {id} in the fog",
        "flight {id} leaves from the far terminal",
        "flight {id} lost the suitcase of {n}",
        "flight {id} has no meals, {f} warned us",
        "flight {id} got cancelled, {f} was rebooked",
        "{f} sits in row 12 on flight {id}",
        "flight {id} was overbooked, {n} stayed behind",
        "flight {id} is the cheap one before dawn",
        "flight {id} carries the exhibition boxes for {n}",
        "gate for flight {id} changed twice",
        "{n} and {f} are both on flight {id}",
        "flight {id} lands too late for the train",
        "flight {id} turned back because of a storm",
        "flight {id} needs a check-in by {f}",
        "flight {id} was paid with the card of {n}",
        "miles for flight {id} are missing, {f} wrote",
        "flight {id} only goes on weekdays",
        "flight {id} had wifi the whole way",
        "{f} picks up {n} from flight {id}",
        "flight {id} is operated by a partner airline",
        "flight {id} has a stop nobody told {n}",
        "voucher for flight {id} is valid until autumn",
        "flight {id} departs an hour earlier in winter",
        "dog box on flight {id} is confirmed for {f}",
    ),
    "dates": (
        "{id}: {f} fixed the gutter and the gate",
        "{id}: inspection at {n}, nothing to report",
        "{id} is the day {n} signs the lease",
        "{id}: no heating in the office again",
        "{id}: {f} was off sick, {n} covered",
        "on {id} the truck from {n} broke down",
        "{id}: delivered forty boxes to {n}",
        "{id}: long call with {n} on the roof",
        "{id}: training with {f} in the small hall",
        "on {id} {f} forgot to lock the yard",
        "{id}: stock count done by {f} alone",
        "{id}: power cut from nine to eleven",
        "{id}: {n} came by without an appointment",
        "on {id} the team went home early",
        "{id}: first frost, {f} covered the plants",
        "{id}: walked the site with {n}",
        "{id}: meter reading done, {f} has the sheet",
        "{id}: two visitors from {n} for lunch",
        "on {id} {n} brought back the trailer",
        "{id}: repaired the pump, {f} helped out",
        "{id}: quiet day, only {n} rang twice",
        "{id}: fire drill, everybody out in four minutes",
        "{id}: {f} started the new job in dispatch",
        "on {id} we painted the hall with {f}",
        "{id}: cancelled the meeting because of {n}",
        "{id}: ordered new gloves for {f} and {n}",
    ),
    "plates": (
        "{id} is parked in the spot of {n}",
        "{id} needs new tyres before the winter",
        "{id} is the van {f} drives on mondays",
        "{id} got a ticket in front of {n}",
        "{id} has a scratch on the left door",
        "{f} filled up {id} with diesel",
        "{id} is at the garage until friday",
        "{id} was sold to {n} last month",
        "{id} is due for inspection in march",
        "the spare key of {id} is with {f}",
        "{id} carries the ladder for the job at {n}",
        "{id} was seen at the gate at night",
        "{id} is leased, {n} pays the insurance",
        "{id} lost a mirror in the car wash",
        "{f} reversed {id} into the post",
        "{id} has a permit for the yard of {n}",
        "{id} is the grey estate of {f}",
        "{id} burns oil, {f} tops it up weekly",
        "{id} was towed from the loading bay",
        "{id} brought the visitors from {n} on tuesday",
        "{id} has the roof box until {f} returns",
        "{id} had a flat outside the shop of {n}",
        "{id} may use the barrier on weekends",
        "toll for {id} was charged twice in may",
        "{id} goes to {n} as a replacement car",
        "{id} has a cracked windscreen, {f} rang the insurer",
    ),
    "orders": (
        "order {id} for {n} left on monday",
        "order {id} is missing one of three parcels",
        "order {id} came back, {n} wasn't in",
        "order {id} was packed by {f} in a hurry",
        "{n} wants a refund for order {id}",
        "order {id} goes out with the next truck",
        "order {id} has the wrong colour, {f} apologised",
        "order {id} is paid but not shipped",
        "{f} added a gift card to order {id}",
        "order {id} is stuck in customs since friday",
        "order {id} from {n} was changed twice",
        "order {id} needs the signature of {n}",
        "order {id} was split into two deliveries",
        "order {id} arrived broken, photos are with {f}",
        "order {id} waits for a part from {n}",
        "order {id} is a gift, no receipt inside",
        "{n} picked up order {id} at the counter",
        "order {id} was cancelled by {n} by phone",
        "order {id} went to the old address of {n}",
        "order {id} is on the shelf behind {f}",
        "label of order {id} had to be reprinted",
        "order {id} is heavier than {f} thought",
        "order {id} gets express shipping for free",
        "{f} promised order {id} for wednesday",
        "order {id} was left with the neighbour of {n}",
        "order {id} contains the lamp {n} returned",
    ),
}

QUERIES: Final[Mapping[str, tuple[str, ...]]] = {
    "rooms": (
        "what about room {q}",
        "room {q}?",
        "anything on room {q}",
        "what was the thing with {q}",
        "what do we know about room {q}",
        "is there a note on room {q}",
        "room {q} please",
        "whats up in {q}",
    ),
    "invoices": (
        "status of invoice {q}",
        "what was {q}",
        "invoice {q}?",
        "what happened with invoice {q}",
        "anything on invoice {q}",
        "what did i say about invoice {q}",
        "inv {q} please",
        "how's invoice {q}",
    ),
    "pull requests": (
        "pr {q}?",
        "what's up with PR {q}",
        "status of pr {q}",
        "what was pull request {q}",
        "where are we on #{q}",
        "anything on pull request {q}",
        "tell me about pr {q}",
        "PR #{q}",
    ),
    "tickets": (
        "what's {q}",
        "status of {q}",
        "{q}?",
        "what was {q} again",
        "anything on {q}",
        "where does {q} stand",
        "what did we write on {q}",
        "ticket {q} please",
    ),
    "hosts": (
        "anything on {q}",
        "what's with {q}",
        "{q}?",
        "what do i know about {q}",
        "any problem with host {q}",
        "what was it with {q} again",
        "notes on {q}",
        "state of {q}",
    ),
    "versions": (
        "what was in {q}",
        "anything on version {q}",
        "{q}?",
        "what about release {q}",
        "what happened with v{q}",
        "notes for {q}",
        "what did we say on version {q}",
        "v{q} ?",
    ),
    "lockers": (
        "who has locker {q}",
        "what's in locker {q}",
        "locker {q}?",
        "anything about locker {q}",
        "what was it with locker {q}",
        "tell me about locker {q}",
        "note on locker {q}",
        "locker no {q} please",
    ),
    "emails": (
        "what did {q} want",
        "who is {q}",
        "anything from {q}",
        "{q}?",
        "what was with {q}",
        "notes on {q}",
        "what do we know about {q}",
        "the thing with {q} again",
    ),
    "paths": (
        "what's with {q}",
        "anything on {q}",
        "{q}?",
        "what was {q} again",
        "what happened to {q}",
        "note about {q}",
        "can i use {q}",
        "what do we know about {q}",
    ),
    "extensions": (
        "who's on extension {q}",
        "extension {q}?",
        "what is ext {q}",
        "whose number is {q}",
        "anything on extension {q}",
        "who do i get on {q}",
        "ext. {q} please",
        "what was extension {q}",
    ),
    "flights": (
        "what about flight {q}",
        "{q}?",
        "anything on {q}",
        "what happened with {q}",
        "what was it with flight {q}",
        "notes on flight {q}",
        "flight {q} please",
        "what did i say about {q}",
    ),
    "dates": (
        "what happened on {q}",
        "{q}?",
        "anything on {q}",
        "what was on {q}",
        "what did i note for {q}",
        "what do you have for {q}",
        "log of {q}",
        "what was going on {q}",
    ),
    "plates": (
        "whose car is {q}",
        "{q}?",
        "anything on {q}",
        "what's with {q}",
        "what do we know about {q}",
        "note on the car {q}",
        "what was with {q} again",
        "plate {q} please",
    ),
    "orders": (
        "what was {q}",
        "status of order {q}",
        "where is {q}",
        "{q}?",
        "anything on {q}",
        "what happened with order {q}",
        "order {q} please",
        "what's up with {q}",
    ),
}

KINDS: Final = tuple(REMARKS)
SURNAMES: Final = (
    "keller", "kellner", "koller", "kohler", "kessler", "meier", "meyer", "maier", "mayer", "weber",
    "wever", "hansen", "hanson", "jansen", "janson", "larsen", "larson", "petersen", "peterson",
    "rosen", "rosin", "schmid", "schmidt", "stein", "steiner",
)  # fmt: skip
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
LETTERS: Final = "ABCDEFGHJKLMNOPRSTUVWXYZ"
BASES: Final = {
    "invoices": (1200, 9300), "pull requests": (120, 480), "lockers": (1, 60), "extensions": (2000, 8400),
}  # fmt: skip
"""Kinds that are numbered, and where the numbers begin."""


def _day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]}"


def _identifiers(kind: str, count: int, rng: Random) -> list[tuple[str, str]]:
    """Return neighbouring identifiers, each as a record has it and as a query does."""
    numbers = range(count)
    if kind in BASES:
        base = rng.randrange(*BASES[kind])
        ids = [str(base + i) for i in numbers]
    elif kind == "rooms":
        base = rng.choice((101, 201, 301, 401))
        ids = [str(base + i) for i in numbers]
    elif kind == "tickets":
        key, base = rng.choice(("OPS", "PAY", "WEB", "CRM", "APP")), rng.randrange(110, 490)
        return [
            (f"{key}-{base + i}", f"{rng.choice((key, key.lower()))}-{base + i}") for i in numbers
        ]
    elif kind == "hosts":
        regions = ("eu", "us", "ap", "sa")
        ids = [f"node-{region}-{i}" for i in range(1, count // 4 + 2) for region in regions][:count]
    elif kind == "versions":
        major, minor = rng.randrange(2, 8), rng.randrange(3, 14)
        ids = [f"{major}.{minor + i // 12}.{i % 12}" for i in numbers]
    elif kind == "emails":
        start = rng.randrange(len(SURNAMES))
        whose = [SURNAMES[(start + i // 26) % len(SURNAMES)] for i in numbers]
        ids = [f"{chr(97 + i % 26)}.{name}@nordlin.example" for i, name in enumerate(whose)]
    elif kind == "paths":
        folder = rng.choice(
            ("/srv/exports/batch", "/data/in/run", "reports/2024/part", "/home/share/scans/scan")
        )
        ending, base = rng.choice(("csv", "xlsx", "txt")), rng.randrange(100, 480)
        ids = [f"{folder}_{base + i:04d}.{ending}" for i in numbers]
    elif kind == "flights":
        airline, base = rng.choice(("LH", "KL", "BA", "SK", "TP")), rng.randrange(1000, 9400)
        found = []
        for i in numbers:
            space = rng.choice((" ", "", " "))
            asked = f"{rng.choice((airline, airline.lower()))}{space}{base + i}"
            found.append((f"{airline} {base + i}", asked))
        return found
    elif kind == "dates":
        first = date(2024, 1, 1) + timedelta(days=rng.randrange(300))
        days = [first + timedelta(days=i) for i in numbers]
        seen = Counter((day.month, day.day) for day in days)
        found = []
        for day in days:
            # "3 March" only where no other record falls on a 3 March
            if seen[day.month, day.day] == 1 and rng.random() < 0.5:
                found.append((_day(day), rng.choice((_day(day), _day(day).lower()))))
            else:
                found.append((day.isoformat(), day.isoformat()))
        return found
    elif kind == "plates":
        head, first_letter = rng.choice(("KX19", "LM21", "BD68", "SW70")), rng.choice(LETTERS)
        plates = [f"{head} {first_letter}{b}{c}" for b in LETTERS for c in LETTERS][:count]
        return [(one, rng.choice((one, one.lower()))) for one in plates]
    else:
        base = rng.randrange(4000, 9300)
        return [(f"#{base + i}", f"{rng.choice(('#', ''))}{base + i}") for i in numbers]
    return [(one, one) for one in ids]


def records(kind: str, count: int, seed: int) -> list[tuple[str, str]]:
    """Return records of one of `KINDS`, each with a query for it alone; the same for the same arguments.

    ``count`` is 500 at most.
    """
    rng = Random(f"{kind}/{count}/{seed}")
    out = []
    for form, asked in _identifiers(kind, count, rng):
        text = rng.choice(REMARKS[kind]).format(id=form, n=rng.choice(NAMES), f=rng.choice(FIRST))
        out.append((text, rng.choice(QUERIES[kind]).format(q=asked)))
    rng.shuffle(out)
    return out


if __name__ == "__main__":
    for name in KINDS:
        for text, query in records(name, 20, 1)[:3]:
            print(f"{name:14} {text:60} {query}")
