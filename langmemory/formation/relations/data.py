"""The relations formation knows by name, as data: one row each, with the words for them.

A row's first name is the canonical one; its phrases are what people and models write for it, in
English, German, Spanish and Chinese. Auxiliary words in front ("is", "has been", "ist") need no
phrases of their own. A phrase stands in one row only (tests/formation/test_relations.py).
"""

from __future__ import annotations

from langmemory.formation.relations.relation import Relation, phrases

RELATIONS: tuple[Relation, ...] = (
    # Family and company.
    Relation(
        name="parent_of",
        timeless=True,
        phrases=phrases(
            """mother of; father of; mom of; mum of; dad of; has child; has children; has kid;
            has kids; has son; has daughter; has baby; child; children; son; daughter; kid; gave
            birth to; raised; became mother of; became father of;
            mutter von; vater von; hat kind; hat kinder; hat sohn; hat tochter; sohn; tochter; kind;
            madre de; padre de; tiene hijo; tiene hija; tiene hijos; hijo; hija; hijos;
            的母亲; 的父亲; 母亲; 有孩子; 有儿子; 有女儿; 儿子; 女儿; 孩子"""
        ),
    ),
    Relation(
        name="child_of",
        inverse_of="parent_of",
        timeless=True,
        phrases=phrases(
            """son of; daughter of; kid of; has mother; has father; has parent; has parents; mother;
            father; mom; mum; dad; parent; parents; born to;
            kind von; sohn von; tochter von; hat mutter; hat vater; mutter; vater; eltern;
            hijo de; hija de; madre; padre; padres;
            的儿子; 的女儿; 妈妈; 爸爸; 父母"""
        ),
    ),
    Relation(
        name="sibling_of",
        symmetric=True,
        timeless=True,
        phrases=phrases(
            """brother of; sister of; twin of; half brother of; half sister of; has brother; has
            sister; has sibling; has siblings; has twin; brother; sister; sibling; siblings; twin;
            bruder von; schwester von; hat bruder; hat schwester; bruder; schwester; geschwister;
            hermano de; hermana de; tiene hermano; tiene hermana; hermano; hermana;
            兄弟; 姐妹; 哥哥; 弟弟; 姐姐; 妹妹"""
        ),
    ),
    Relation(
        name="grandparent_of",
        timeless=True,
        phrases=phrases(
            """grandmother of; grandfather of; grandma of; grandpa of; has grandchild; has
            grandchildren; has grandson; has granddaughter; grandson; granddaughter; grandchild;
            grossmutter von; grossvater von; oma von; opa von; enkel; enkelin; abuela de; abuelo de;
            nieto; nieta; 孙子; 孙女"""
        ),
    ),
    Relation(
        name="grandchild_of",
        inverse_of="grandparent_of",
        timeless=True,
        phrases=phrases(
            """grandson of; granddaughter of; has grandmother; has grandfather; grandmother;
            grandfather; grandma; grandpa; enkel von; enkelin von; oma; opa; grossmutter;
            grossvater; nieto de; nieta de; abuela; abuelo; 奶奶; 爷爷; 外婆; 外公"""
        ),
    ),
    Relation(
        name="relative_of",
        symmetric=True,
        timeless=True,
        phrases=phrases(
            """related to; in law of; relative; sister in law; brother in law; mother in law; father
            in law; daughter in law; son in law; sister in law of; brother in law of; mother in law
            of; father in law of; daughter in law of; son in law of; verwandt mit; schwägerin;
            schwager; schwiegermutter; schwiegervater; schwiegertochter; schwiegersohn; familiar de;
            pariente de; cuñada; cuñado; suegra; suegro; nuera; yerno; 亲戚; 嫂子; 姐夫; 婆婆; 岳母;
            stepmother; stepfather; stepsister; stepbrother; stepdaughter; stepson; stepmother of;
            stepfather of; stepsister of; stepbrother of; stepdaughter of; stepson of; godmother;
            godfather; goddaughter; godson; godmother of; godfather of; goddaughter of; godson of;
            stiefmutter; stiefvater; patentante; patenonkel; madrastra; padrastro; madrina; padrino;
            继母; 继父; 教母; 教父"""
        ),
    ),
    Relation(
        name="cousin_of",
        symmetric=True,
        timeless=True,
        phrases=phrases(
            """has cousin; cousin; cousine; cousin von; cousine von; primo; prima; primo de; prima
            de; 表哥; 表妹"""
        ),
    ),
    Relation(
        name="aunt_or_uncle_of",
        timeless=True,
        phrases=phrases(
            """aunt of; uncle of; has niece; has nephew; niece; nephew; tante von; onkel von; hat
            nichte; hat neffe; nichte; neffe; tía de; tío de; sobrina; sobrino; 侄子; 侄女"""
        ),
    ),
    Relation(
        name="niece_or_nephew_of",
        inverse_of="aunt_or_uncle_of",
        timeless=True,
        phrases=phrases(
            """niece of; nephew of; has aunt; has uncle; aunt; uncle; nichte von; neffe von; hat
            tante; hat onkel; tante; onkel; sobrina de; sobrino de; tía; tío; 阿姨; 叔叔"""
        ),
    ),
    Relation(
        name="married_to",
        symmetric=True,
        values="one",
        also_ends=("engaged_to",),
        phrases=phrases(
            """married; marries; got married to; spouse of; wife of; husband of; has spouse; has
            wife; has husband; wife; husband; spouse; wed;
            verheiratet mit; heiratete; hat geheiratet; ehefrau; ehemann; ehefrau von; ehemann von;
            mann von; frau von;
            casado con; casada con; se casó con; esposa; esposo; marido; esposa de; esposo de;
            结婚; 嫁给; 娶了; 丈夫; 妻子; 老公; 老婆"""
        ),
    ),
    Relation(
        name="divorced_from",
        symmetric=True,
        ends="married_to",
        also_ends=("engaged_to", "partner_of"),
        phrases=phrases(
            """divorced; got divorced from; ex wife of; ex husband of; ex wife; ex husband;
            geschieden von; divorciado de; divorciada de; 离婚; 前夫; 前妻"""
        ),
    ),
    Relation(
        name="engaged_to",
        symmetric=True,
        values="usually one",
        phrases=phrases(
            "got engaged to; fiancé; fiancée; fiancé of; fiancée of; verlobt mit; prometido de; "
            "prometida de; comprometida con; comprometido con; 订婚"
        ),
    ),
    Relation(
        name="partner_of",
        symmetric=True,
        values="usually one",
        phrases=phrases(
            """dates; dating; in a relationship with; in relationship with; has relationship with;
            together with; boyfriend of; girlfriend of;
            has boyfriend; has girlfriend; has partner; boyfriend; girlfriend; partner;
            zusammen mit; freundin von; partner von; partnerin; novia; novio; novia de; novio de;
            pareja; 男朋友; 女朋友; 交往"""
        ),
    ),
    Relation(
        name="separated_from",
        symmetric=True,
        ends="partner_of",
        also_ends=("engaged_to",),
        phrases=phrases(
            "broke up with; split up with; ex boyfriend; ex girlfriend; getrennt von; "
            "rompió con; separada de; separado de; 分手"
        ),
    ),
    Relation(
        name="friend_of",
        symmetric=True,
        phrases=phrases(
            """friends with; best friend; best friend of; friend; friends; has friend; has friends;
            befreundet mit; freund von; freund; freundin; freunde; amigo de; amiga de; amigo; amiga;
            朋友; 好朋友"""
        ),
    ),
    Relation(
        name="colleague_of",
        symmetric=True,
        phrases=phrases(
            """works with; coworker of; co worker of; teammate of; colleague; colleagues; coworker;
            kollege; kollegin; kollege von; kollegin von; arbeitet mit; colega; colega de; trabaja
            con; compañero de trabajo; 同事"""
        ),
    ),
    Relation(
        name="neighbour_of",
        symmetric=True,
        phrases=phrases(
            "neighbor of; neighbour; neighbor; lives next to; nachbar; nachbarin; nachbar von; "
            "vecino; vecina; vecino de; 邻居"
        ),
    ),
    Relation(
        name="flatmate_of",
        symmetric=True,
        phrases=phrases(
            """roommate of; housemate of; shares flat with; flatmate; roommate; housemate; has flatmate;
            has roommate; mitbewohner von; mitbewohnerin von; mitbewohner; mitbewohnerin; compañero de piso;
            compañera de piso; 室友"""
        ),
    ),
    Relation(
        name="lives_with",
        symmetric=True,
        phrases=phrases(
            "shares home with; living with; moved in with; wohnt mit; lebt mit; zog mit zusammen; vive "
            "con; convive con; 和住在一起"
        ),
    ),
    Relation(
        name="teacher_of",
        phrases=phrases(
            "coach of; tutor of; instructor of; lehrer von; lehrerin von; trainer von; trainerin von; "
            "profesor de; profesora de; entrenador de; entrenadora de; 的老师; 的教练"
        ),
    ),
    Relation(
        name="landlord_of",
        phrases=phrases(
            "landlady of; landlord; landlady; vermieter von; vermieterin von; vermieter; vermieterin; "
            "casero de; casera de; casero; casera; 房东"
        ),
    ),
    Relation(
        name="knows",
        symmetric=True,
        phrases=phrases("met; acquainted with; met with; kennt; conoce; conoce a; 认识"),
    ),
    # Who somebody is.
    Relation(
        name="named",
        values="usually one",
        object="literal",
        subject="thing",
        phrases=phrases(
            """called; name; full name; known as; heisst; llamado; llamada; se llama; nombre; 叫;
            名字; 名叫"""
        ),
    ),
    Relation(
        name="nickname",
        object="literal",
        subject="thing",
        phrases=phrases("nicknamed; goes by; also known as; spitzname; apodo; 外号; 昵称"),
    ),
    Relation(
        name="born_on",
        values="one",
        timeless=True,
        object="literal",
        phrases=phrases(
            """birthday; birthday on; has birthday; has birthday on; birthday is; birth date; date of
            birth; birthdate; born; geboren am; geburtstag; hat geburtstag; hat geburtstag am;
            nació el; cumpleaños; cumple años el; fecha de nacimiento; 生日; 出生日期"""
        ),
    ),
    Relation(
        name="born_in",
        values="one",
        timeless=True,
        object="place",
        phrases=phrases(
            "birthplace; place of birth; geboren in; geburtsort; nació en; lugar de nacimiento; 出生于"
        ),
    ),
    Relation(
        name="died_on",
        values="one",
        timeless=True,
        object="literal",
        phrases=phrases("died; passed away; date of death; starb am; gestorben am; murió; 去世"),
    ),
    Relation(
        name="has_died",
        object="literal",
        phrases=phrases(
            """is dead; dead; deceased; is deceased; died of; died from; died in; killed in; killed by;
            put down; put to sleep; has passed; gestorben; gestorben an; tot; verstorben;
            falleció; ha muerto"""
        ),
    ),
    Relation(
        name="age",
        values="one",
        object="literal",
        phrases=phrases("aged; years old; has age; alter; jahre alt; edad; tiene años; 年龄; 岁"),
    ),
    Relation(
        name="nationality",
        values="usually one",
        object="literal",
        phrases=phrases("citizen of; citizenship; staatsangehörigkeit; nacionalidad; 国籍"),
    ),
    Relation(
        name="comes_from",
        values="usually one",
        timeless=True,
        object="place",
        phrases=phrases(
            """from; originally from; comes from; native of; grew up in; hometown; home country;
            kommt aus; stammt aus; aufgewachsen in; es de; viene de; creció en; 来自; 老家"""
        ),
    ),
    Relation(
        name="speaks",
        object="literal",
        phrases=phrases("speaks language; spricht; habla; 会说; 说"),
    ),
    Relation(
        name="religion",
        values="usually one",
        object="literal",
        phrases=phrases("practises religion; konfession; religión; 宗教"),
    ),
    Relation(
        name="diet",
        values="usually one",
        object="literal",
        phrases=phrases("follows diet; eats diet; ernährung; ernährt sich; dieta; 饮食"),
    ),
    Relation(
        name="does_not_eat",
        object="literal",
        phrases=phrases(
            """doesn't eat; do not eat; cannot eat; can't eat; does not drink; doesn't drink; isst kein; isst
            keine; isst keinen; trinkt kein; trinkt keinen; no come; no bebe; 不吃; 不喝"""
        ),
    ),
    Relation(
        name="allergic_to",
        object="literal",
        phrases=phrases(
            "allergy; has allergy; allergy to; has allergy to; allergisch gegen; allergisch auf; "
            "alérgico a; alérgica a; 对过敏; 过敏"
        ),
    ),
    Relation(
        name="takes_medication",
        object="literal",
        phrases=phrases(
            """medication; takes medicine; on medication; prescribed; nimmt medikament; medikament; toma
            medicamento; medicación; 服用; 吃药"""
        ),
    ),
    Relation(
        name="has_condition",
        object="literal",
        phrases=phrases(
            "suffers from; diagnosed with; has disease; ill with; leidet an; sufre de; 患有"
        ),
    ),
    Relation(
        name="marital_status",
        values="one",
        object="literal",
        phrases=phrases("relationship status; familienstand; estado civil; 婚姻状况"),
    ),
    # Where.
    Relation(
        name="lives_in",
        values="one",
        object="place",
        phrases=phrases(
            """live in; lives at; lives on; lives; living in; lives in city; lives in the city of;
            home city;
            city of residence; place of residence; resides in; resident of; residence; home is in;
            based in; moved to; moves to; moving to; relocated to; moved into; settled in; stays in;
            wohnt in; lebt in; wohnhaft in; zog nach; zieht nach; gezogen nach; umgezogen nach;
            wohnort;
            vive en; vivo en; reside en; se mudó a; se muda a; residencia;
            住在; 居住在; 搬到; 搬去; 搬到了; 定居"""
        ),
    ),
    Relation(
        name="moved_from",
        ends="lives_in",
        object="place",
        phrases=phrases(
            """moved away from; moved out of; left city; used to live in; used to reside in; formerly
            lived in; previously lived in; once lived in; former home; former residence; previous
            residence; zog weg aus; weggezogen aus; wohnte früher in; lebte früher in; se mudó de;
            vivía en; 从搬走; 搬离; 以前住在"""
        ),
    ),
    Relation(
        name="visited",
        object="place",
        phrases=phrases(
            """visits; went to; goes to; travelled to; traveled to; travels to; trip to; been to; flew
            to; besuchte; reiste nach; war in; visitó; viajó a; fue a; 去过; 去了; 访问"""
        ),
    ),
    Relation(
        name="located_in",
        values="one",
        subject="thing",
        object="place",
        phrases=phrases(
            "located at; situated in; is in; lies in; part of; liegt in; befindet sich in; queda en; "
            "está en; ubicado en; 位于; 在"
        ),
    ),
    Relation(name="address", values="one", object="literal", phrases=phrases(
        "street address; home address; adresse; anschrift; dirección; 地址")),
    Relation(name="phone_number", values="usually one", object="literal", phrases=phrases(
        "phone; telephone; mobile number; telefonnummer; handynummer; teléfono; 电话; 手机号")),
    Relation(name="email", values="usually one", object="literal", phrases=phrases(
        "email address; e mail; mail address; mailadresse; correo; correo electrónico; 邮箱")),
    # Work and school.
    Relation(
        name="works_at",
        values="usually one",
        object="organisation",
        phrases=phrases(
            """work at; works for; works in; work for; working at; working for; employed at; employed
            by; employee of; job at; has job at; employer; joined; started at; started working at;
            hired by; company;
            arbeitet bei; arbeitet für; arbeitet in; angestellt bei; fing an bei; arbeitgeber;
            trabaja en; trabaja para; empleado de; empleada de; empezó en; empresa;
            在工作; 工作于; 任职于; 就职于; 上班; 加入"""
        ),
    ),
    Relation(
        name="employs",
        inverse_of="works_at",
        subject="organisation",
        object="person",
        phrases=phrases("employer of; hired; has employee; beschäftigt; emplea; contrató; 雇佣"),
    ),
    Relation(
        name="workplace",
        object="literal",
        phrases=phrases("works in a; works at a; kind of workplace; arbeitet in einer; trabaja en un"),
    ),
    Relation(
        name="working_hours",
        values="usually one",
        object="literal",
        phrases=phrases(
            "works hours; hours of work; arbeitszeit; arbeitsstunden; horario de trabajo; jornada; 工作时间"
        ),
    ),
    Relation(
        name="rent",
        values="usually one",
        object="literal",
        phrases=phrases(
            "pays rent; pays in rent; rent of; miete; zahlt miete; alquiler; paga de alquiler; 房租"
        ),
    ),
    Relation(
        name="charges",
        values="usually one",
        object="literal",
        phrases=phrases("charges a price of; rate; hourly rate; stundensatz; tarifa; cobra; 收费"),
    ),
    Relation(
        name="left_job_at",
        ends="works_at",
        object="organisation",
        phrases=phrases(
            """quit; quit job at; left company; left job; resigned from; fired from; fired by; laid
            off by; laid off from; retired from; used to work at; used to work for; worked at;
            worked for; formerly worked at; formerly employed by; former employer; kündigte bei;
            gekündigt bei; arbeitete bei; arbeitete früher bei; renunció a; dejó el trabajo en;
            trabajaba en; 辞职; 离职; 以前在工作"""
        ),
    ),
    Relation(
        name="works_as",
        values="usually one",
        object="literal",
        phrases=phrases(
            """job title; job; occupation; profession; position; role; job is; works as a; career;
            employed as; arbeitet als; beruf; trabaja como; profesión; puesto; 职业; 职位; 当"""
        ),
    ),
    Relation(
        name="reports_to",
        values="usually one",
        object="person",
        phrases=phrases(
            "has boss; has manager; boss; manager; supervisor; managed by; chef; chefin; vorgesetzter; "
            "jefe; jefa; 老板; 上司"
        ),
    ),
    Relation(
        name="manages",
        inverse_of="reports_to",
        object="person",
        phrases=phrases("boss of; manager of; supervises; supervisor of; chef von; jefe de; 管理"),
    ),
    Relation(
        name="studies_at",
        values="usually one",
        object="organisation",
        phrases=phrases(
            """student at; attends school; attends university; goes to school at; enrolled at;
            university; school; studiert an; studiert bei; geht zur schule in; estudia en; 就读于;
            上学; 在读"""
        ),
    ),
    Relation(
        name="studies",
        object="literal",
        phrases=phrases(
            "majors in; major; studying; field of study; learns; learning; studiert; studienfach; "
            "lernt; estudia; aprende; 学习; 专业"
        ),
    ),
    Relation(
        name="graduated_from",
        object="organisation",
        ends="studies_at",
        phrases=phrases(
            "alma mater; graduated at; degree from; abschluss an; se graduó de; se graduó en; 毕业于"
        ),
    ),
    Relation(
        name="founded",
        object="organisation",
        phrases=phrases(
            "founder of; started company; co founded; cofounded; owns company; gründete; gründerin "
            "von; gründer von; fundó; 创办; 创立"
        ),
    ),
    Relation(
        name="founded_by",
        inverse_of="founded",
        subject="organisation",
        object="person",
        phrases=phrases("founder; gegründet von; fundado por; 创始人"),
    ),
    Relation(
        name="member_of",
        object="organisation",
        phrases=phrases(
            "belongs to; member in; plays for; in team; volunteers at; volunteers for; mitglied in; "
            "mitglied von; miembro de; 成员"
        ),
    ),
    Relation(
        name="has_member",
        inverse_of="member_of",
        subject="organisation",
        object="person",
        phrases=phrases("members; member; mitglieder; miembros"),
    ),
    # Having.
    Relation(
        name="has_pet",
        object="animal",
        phrases=phrases(
            """pet; pets; pet owner of; has dog; has cat; has a dog; has a cat; dog; cat; adopted pet;
            adopted; haustier; hat haustier; hat hund; hat katze; hund; katze; mascota; tiene
            mascota; tiene perro; tiene gato; perro; gato; 宠物; 养; 养了; 有狗; 有猫"""
        ),
    ),
    Relation(
        name="pet_of",
        inverse_of="has_pet",
        subject="animal",
        object="person",
        phrases=phrases("dog of; cat of; haustier von; hund von; katze von; mascota de; 的宠物"),
    ),
    Relation(
        name="owns",
        object="thing",
        phrases=phrases(
            """has; have; bought; got; owner of; possesses; purchased; drives; besitzt; hat; kaufte;
            gekauft; fährt; tiene; posee; compró; conduce; 有; 拥有; 买了; 开"""
        ),
    ),
    Relation(
        name="has_phone",
        values="usually one",
        object="thing",
        phrases=phrases(
            """has mobile; has cellphone; has smartphone; uses phone; owns phone; phone model; mobile
            phone; smartphone; hat handy; handy; hat smartphone; tiene móvil; móvil; celular; 用手机"""
        ),
    ),
    Relation(
        name="has_vehicle",
        values="usually one",
        object="thing",
        phrases=phrases(
            """has car; has van; has truck; owns car; car; vehicle; drives car; hat auto; auto; fahrzeug;
            tiene coche; coche; 开车; 有车; 车"""
        ),
    ),
    Relation(
        name="has_doctor",
        values="many",
        object="person",
        phrases=phrases(
            """has gp; has physician; doctor is; gp; patient of; hausarzt; hausärztin; hat arzt; médico;
            médica; tiene médico; 家庭医生"""
        ),
    ),
    Relation(
        name="owned_by",
        inverse_of="owns",
        subject="thing",
        object="person",
        phrases=phrases("belonging to; owner; gehört; pertenece a; 属于"),
    ),
    Relation(
        name="gave_up",
        ends="owns",
        also_ends=("has_vehicle", "has_phone", "has_pet", "uses"),
        object="thing",
        phrases=phrases(
            "sold; gave away; lost; got rid of; threw away; verkaufte; verkauft; verlor; vendió; "
            "perdió; regaló; 卖了; 卖掉; 丢了"
        ),
    ),
    Relation(
        name="uses",
        object="thing",
        phrases=phrases("using; works using; benutzt; verwendet; nutzt; usa; utiliza; 使用; 用"),
    ),
    # Taste, pastimes, plans.
    Relation(
        name="likes",
        holds=False,
        opposite="dislikes",
        object="literal",
        phrases=phrases(
            """like; liking; loves; love; enjoys; enjoy; fond of; fan of; a fan of; adores; into; keen
            on; prefers; preference; mag; liebt; gern; mag gern; steht auf; bevorzugt; le gusta; le
            encanta; gusta; ama; adora; disfruta; prefiere; 喜欢; 爱; 最爱; 喜爱; 偏好"""
        ),
    ),
    Relation(
        name="dislikes",
        holds=False,
        opposite="likes",
        object="literal",
        phrases=phrases(
            """dislike; hates; hate; does not like; doesn't like; do not like; not a fan of; can't
            stand; cannot stand; avoids; detests; mag nicht; hasst; mag kein; mag keine; no le
            gusta; odia; detesta; 不喜欢; 讨厌; 不爱"""
        ),
    ),
    Relation(
        name="interested_in",
        holds=False,
        object="literal",
        phrases=phrases("interest; interests; curious about; interessiert sich für; interesado en; "
                        "interesada en; se interesa por; 感兴趣"),
    ),
    Relation(
        name="has_hobby",
        object="literal",
        phrases=phrases(
            """hobby; hobbies; pastime; does; does sport; does exercise; plays sports;
            practises; practices; plays; plays instrument; plays
            sport; spielt; juega; toca; practica; afición; 爱好; 玩; 弹; 打"""
        ),
    ),
    Relation(
        name="plans",
        holds=False,
        object="literal",
        phrases=phrases(
            """plans to; planning; planning to; intends to; going to; wants to; wants; will; plant; hat
            vor; möchte; will gern; planea; piensa; quiere; va a; 打算; 计划; 想"""
        ),
    ),
    Relation(
        name="has_goal",
        holds=False,
        object="literal",
        phrases=phrases("goal; goals; aims to; dreams of; ziel; träumt von; meta; sueña con; 目标; 梦想"),
    ),
    Relation(
        name="decided",
        holds=False,
        object="literal",
        phrases=phrases("decided to; chose; decision; entschied; beschloss; decidió; eligió; 决定"),
    ),
    Relation(
        name="attended",
        object="event",
        phrases=phrases(
            "attends; attending; participated in; took part in; nahm teil an; asistió a; participó en; "
            "参加; 参加了"
        ),
    ),
    Relation(
        name="favourite",
        holds=False,
        object="literal",
        phrases=phrases("favorite; lieblings; favorito; favorita; preferido; 最喜欢"),
    ),
    # How the assistant is to answer the subject. What answers are with and without gives way to each
    # other, so that a new word about emojis takes the place of the last, in either direction.
    Relation(
        name="answer_language",
        values="one",
        to_assistant=True,
        object="literal",
        phrases=phrases(
            """preferred language; preferred answer language; preferred response language; response
            language; wants answers in; wants replies in; prefers answers in; wants to be answered in;
            möchte antworten auf; quiere respuestas en; 希望用语言回答"""
        ),
    ),
    Relation(
        name="addressed_as",
        values="one",
        to_assistant=True,
        object="literal",
        ends="not_addressed_as",
        phrases=phrases(
            """wants to be called; prefers to be called; wants to be addressed as; preferred name; form of
            address; möchte genannt werden; quiere que le llamen; 希望被称为"""
        ),
    ),
    Relation(
        name="not_addressed_as",
        to_assistant=True,
        object="literal",
        ends="addressed_as",
        phrases=phrases("does not want to be called; möchte nicht genannt werden; 不希望被称为"),
    ),
    Relation(
        name="address_formality",
        values="one",
        to_assistant=True,
        object="literal",
        phrases=phrases("formality; anrede; tratamiento"),
    ),
    Relation(
        name="pronouns",
        values="one",
        to_assistant=True,
        object="literal",
        phrases=phrases("preferred pronouns; uses pronouns; pronomen; pronombres; 人称代词"),
    ),
    Relation(
        name="answer_length",
        values="one",
        to_assistant=True,
        object="literal",
        phrases=phrases("response length; preferred answer length; preferred response length"),
    ),
    Relation(
        name="answer_units",
        values="one",
        to_assistant=True,
        object="literal",
        phrases=phrases("preferred units; unit system; measurement system; uses units"),
    ),
    Relation(
        name="answer_currency",
        values="one",
        to_assistant=True,
        object="literal",
        phrases=phrases("preferred currency; wants prices in"),
    ),
    Relation(
        name="answer_tone",
        to_assistant=True,
        object="literal",
        phrases=phrases("preferred tone; response style; preferred response style; answer style"),
    ),
    Relation(
        name="answers_with",
        to_assistant=True,
        object="literal",
        ends="answers_without",
        phrases=phrases("wants answers with; möchte antworten mit; quiere respuestas con"),
    ),
    Relation(
        name="answers_without",
        to_assistant=True,
        object="literal",
        ends="answers_with",
        phrases=phrases("wants answers without; möchte antworten ohne; quiere respuestas sin"),
    ),
)  # fmt: skip
