//! British and American spellings of English words.

use super::rewriter::Rewriter;
use super::table::{Table, ends_word, starts_word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// A variety of English, in which words are to be written.
///
/// By a table of some hundred words and beginnings of words, with those of biology and medicine. Capitals stay
/// capitals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spelling {
    /// `american`: tumor, anemia, characterize.
    American,
    /// `british`: tumour, anaemia, characterise.
    British,
}

/// British and American words; a hyphen at the end says that more may follow.
const WORDS: &str = "
    tumour- tumor-  colour color  colours colors  coloured colored  colouring coloring  colourful colorful
    colourless colorless  colouration coloration  discoloured discolored  discolouration discoloration
    behaviour- behavior-  favour- favor-  flavour- flavor-  labour labor  labours labors  laboured labored
    labouring laboring  labourer- laborer-  neighbour- neighbor-  odour odor  odours odors  odourless odorless
    rumour rumor  rumours rumors  vapour vapor  vapours vapors  vigour vigor  harbour- harbor-  humour humor
    honour honor  honours honors  honoured honored  endeavour- endeavor-  rigour rigor
    haemo- hemo-  haemat- hemat-  haemangi- hemangi-  haem heme  anaemi- anemi-  leukaemi- leukemi-  ischaemi- ischemi-
    bacteraemi- bacteremi-  septicaemi- septicemi-  uraemi- uremi-  viraemi- viremi-  toxaemi- toxemi-
    hypoxaemi- hypoxemi-  acidaemi- acidemi-  azotaemi- azotemi-  glycaemi- glycemi-  hypoglycaemi- hypoglycemi-
    hyperglycaemi- hyperglycemi-  normoglycaemi- normoglycemi-  lipidaemi- lipidemi-  hyperlipidaemi- hyperlipidemi-
    dyslipidaemi- dyslipidemi-  cholesterolaemi- cholesterolemi-  hypercholesterolaemi- hypercholesterolemi-
    galactosaemi- galactosemi-  hyperkalaemi- hyperkalemi-  hypokalaemi- hypokalemi-  hypernatraemi- hypernatremi-
    hyponatraemi- hyponatremi-  hypercalcaemi- hypercalcemi-  hypocalcaemi- hypocalcemi-  hyperuricaemi- hyperuricemi-
    hyperinsulinaemi- hyperinsulinemi-  hyperbilirubinaemi- hyperbilirubinemi-  polycythaemi- polycythemi-
    thalassaemi- thalassemi-  thrombocythaemi- thrombocythemi-  hypovolaemi- hypovolemi-  normovolaemi- normovolemi-
    oedema- edema-  angiooedema- angioedema-  oesoph- esoph-  oestrogen- estrogen-  oestradiol- estradiol-
    oestriol estriol  oestrone estrone  oestrus estrus  oestrous estrous  diarrhoea- diarrhea-  dyspnoea- dyspnea-
    apnoea- apnea-  orthopnoea- orthopnea-  tachypnoea- tachypnea-  gonorrhoea- gonorrhea-  amenorrhoea- amenorrhea-
    dysmenorrhoea- dysmenorrhea-  rhinorrhoea- rhinorrhea-  seborrhoe- seborrhe-  coeliac- celiac-
    manoeuvre maneuver  manoeuvres maneuvers  manoeuvred maneuvered  manoeuvring maneuvering
    paediatr- pediatr-  orthopaed- orthoped-  gynaecolog- gynecolog-  gynaecomast- gynecomast-  anaesthesi- anesthesi-
    anaesthetic- anesthetic-  anaesthetist- anesthetist-  caesarean- cesarean-  caecum cecum  caecal cecal
    faeces feces  faecal fecal  faecally fecally  aetiolog- etiolog-  palaeo- paleo-  neutropaeni- neutropeni-
    aluminium- aluminum-  caesium cesium  mould mold  moulds molds  moulded molded  moulding molding  mouldy moldy
    moult molt  moults molts  moulted molted  moulting molting  plough- plow-
    centre center  centres centers  centred centered  centring centering  epicentre epicenter  fibre fiber
    fibres fibers  litre liter  litres liters  millilitre milliliter  millilitres milliliters  microlitre microliter
    microlitres microliters  decilitre deciliter  decilitres deciliters  centimetre centimeter  centimetres centimeters
    millimetre millimeter  millimetres millimeters  nanometre nanometer  nanometres nanometers  kilometre kilometer
    kilometres kilometers  calibre caliber  titre titer  titres titers  goitre goiter  goitres goiters
    theatre theater  theatres theaters  catalogue catalog  catalogues catalogs  catalogued cataloged
    analogue analog  analogues analogs  homologue homolog  homologues homologs  orthologue ortholog
    orthologues orthologs  paralogue paralog  paralogues paralogs  defence defense  defences defenses
    offence offense  offences offenses  skilful- skillful-  fulfil fulfill  fulfils fulfills  enrol enroll  enrols enrolls
    enrolment- enrollment-  instil instill  instils instills  distil distill  distils distills
    labelled labeled  labelling labeling  unlabelled unlabeled  relabelled relabeled  modelled modeled
    modelling modeling  remodelled remodeled  remodelling remodeling  signalled signaled  signalling signaling
    travelled traveled  travelling traveling  cancelled canceled  cancelling canceling  counselled counseled
    counselling counseling  counsellor- counselor-  channelled channeled  channelling channeling  levelled leveled
    levelling leveling  tunnelled tunneled  tunnelling tunneling  ageing aging  judgement- judgment-
    acknowledgement- acknowledgment-  sceptic- skeptic-  artefact- artifact-
    analyse analyze  analysed analyzed  analysing analyzing  analyser analyzer  analysers analyzers
    reanalyse reanalyze  reanalysed reanalyzed  paralyse paralyze  paralysed paralyzed  paralysing paralyzing
    catalyse catalyze  catalysed catalyzed  catalysing catalyzing  hydrolyse hydrolyze  hydrolysed hydrolyzed
    hydrolysing hydrolyzing  dialyse dialyze  dialysed dialyzed
";

/// British words whose American form is also a British word, or was never only American.
const BRITISH_ONLY: &str = "
    programme program  programmes programs  licence license  licences licenses  practise practice  practised practiced
    practising practicing  metre meter  metres meters  micrometre micrometer  micrometres micrometers  dialogue dialog
    dialogues dialogs  grey gray  sulph- sulf-  foetus fetus  foetuses fetuses  foetal fetal  foeto- feto-
    homoeo- homeo-  leucocyt- leukocyt-  leucopen- leukopen-  leucopaeni- leukopeni-  coelom- celom-
";

/// Verbs in `-ise` and `-ize`, without the ending.
const VERBS: &str = "
    acclimat- anaesthet- antagon- apolog- author- capital- catheter- categor- cauter- central- character- civil- colon-
    compartmental- computer- conceptual- crystall- custom- depolar- desensit- destabil- dimer- econom- emphas- energ-
    equal- familiar- fertil- final- formal- functional- general- harmon- heparin- heterodimer- homodimer- homogen-
    hospital- human- hybrid- hypothes- ideal- immobil- immortal- immun- individual- initial- institutional- internal- ion-
    item- lateral- legal- local- magnet- marginal- maxim- mechan- memor- metabol- mineral- minim- mobil- modern- neutral-
    normal- oligomer- optim- organ- oxid- parametr- pasteur- personal- polar- polymer- popular- priorit- public- random-
    rational- real- recogn- regular- reorgan- revascular- sensit- serial- social- solubil- special- stabil- standard-
    steril- summar- symbol- sympath- synchron- synthes- theor- traumat- trimer- util- vascular- visual- vocal-
";

const VERB_ENDINGS: [(&str, &str); 8] = [
    ("ise", "ize"),
    ("ises", "izes"),
    ("ised", "ized"),
    ("ising", "izing"),
    ("iser", "izer"),
    ("isers", "izers"),
    ("isation", "ization"),
    ("isations", "izations"),
];

struct Dictionary {
    /// What becomes of each word, and whether it may go on.
    entries: Vec<(String, bool)>,
    table: Table,
}

/// One dictionary for each direction, made when it is first used.
static TO_AMERICAN: LazyLock<Option<Dictionary>> = LazyLock::new(|| {
    let only = pairs_of(BRITISH_ONLY).map(|(british, american)| (british.to_owned(), american.to_owned()));
    dictionary(pairs().into_iter().chain(only))
});
static TO_BRITISH: LazyLock<Option<Dictionary>> =
    LazyLock::new(|| dictionary(pairs().into_iter().map(|(british, american)| (american, british))));

/// `None` only if the table were too large for its automaton.
fn dictionary(pairs: impl Iterator<Item = (String, String)>) -> Option<Dictionary> {
    let mut words = Vec::new();
    let mut entries = Vec::new();
    for (from, to) in pairs {
        let open = from.ends_with('-');
        words.push(from.trim_end_matches('-').to_owned());
        entries.push((to.trim_end_matches('-').to_owned(), open));
    }
    let table = Table::new(words.iter().map(String::as_str), true).ok()?;
    Some(Dictionary { entries, table })
}

fn pairs_of(list: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut words = list.split_whitespace();
    std::iter::from_fn(move || words.next().zip(words.next()))
}

/// Pairs for both directions: British, American.
fn pairs() -> Vec<(String, String)> {
    let words = pairs_of(WORDS).map(|(british, american)| (british.to_owned(), american.to_owned()));
    let verbs = VERBS.split_whitespace().flat_map(|stem| {
        let british = stem.trim_end_matches('-');
        let american = british.replace("anaesthet", "anesthet");
        VERB_ENDINGS.map(|(ise, ize)| (format!("{british}{ise}"), format!("{american}{ize}")))
    });
    words.chain(verbs).collect()
}

impl Spelling {
    pub(super) fn rewrite(self, text: &mut Rewriter<'_>) {
        let dictionary = match self {
            Self::American => TO_AMERICAN.as_ref(),
            Self::British => TO_BRITISH.as_ref(),
        };
        let Some(Dictionary { entries, table }) = dictionary else {
            return;
        };
        let source = text.source();
        let mut buffer = String::new();
        table.search(
            source,
            |entry, range| starts_word(source, range) && (entries[entry].1 || ends_word(source, range)),
            |entry, range| {
                buffer.clear();
                write_like(&source[range.clone()], &entries[entry].0, &mut buffer);
                text.replace(range, &buffer);
            },
        );
    }
}

/// Writes a word in the case of another one.
fn write_like(model: &str, word: &str, out: &mut String) {
    let mut capitals = model.bytes().map(|byte| byte.is_ascii_uppercase());
    let first = capitals.next().unwrap_or(false);
    let rest = capitals.next().is_some() && model.bytes().all(|byte| byte.is_ascii_uppercase());
    for (index, c) in word.chars().enumerate() {
        let capital = if index == 0 { first } else { rest };
        out.push(if capital { c.to_ascii_uppercase() } else { c });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_table_is_well_made() {
        for list in [WORDS, BRITISH_ONLY] {
            assert_eq!(list.split_whitespace().count() % 2, 0);
        }
        assert!(TO_AMERICAN.is_some() && TO_BRITISH.is_some());
        let mut seen = HashSet::new();
        let only =
            pairs_of(BRITISH_ONLY).map(|(british, american)| (british.to_owned(), american.to_owned()));
        for (british, american) in pairs().into_iter().chain(only) {
            assert_eq!(british.ends_with('-'), american.ends_with('-'), "{british}");
            assert_ne!(british, american);
            assert!(seen.insert(british.clone()), "{british} is there twice");
            assert!(seen.insert(american.clone()), "{american} is there twice");
        }
    }
}
