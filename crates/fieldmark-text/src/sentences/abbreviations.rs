//! Abbreviations with a point, and the words that may begin a sentence after one.

use super::SentenceLanguage;
use std::collections::{HashMap, HashSet};

/// What may come after the point of an abbreviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Always more of the sentence: `Dr. Wu`.
    Inside,
    /// More of the sentence if it is a number; otherwise it is no abbreviation: `bed no. 5`, but `She said no.`
    Numbered,
    /// Either; a new sentence if a word with a capital and then small letters follows: `etc.`, `3 tabs. daily`.
    Either,
}

/// Words with a capital are abbreviations only so: `Ms. Wu`, but `30 ms.`
const ENGLISH: [(Use, &str); 3] = [
    (
        Use::Inside,
        "Mr Mrs Ms Mx Messrs dr drs prof St Mt Sen Rep Gov Gen Col Lt Sgt Capt Cmdr Rev Hon Pres \
         vs cf viz approx ca e.g i.e eg ie esp incl excl a.k.a",
    ),
    (
        Use::Numbered,
        "no nos nr fig figs suppl supp eq eqs eqn eqns ch chap vol p pp pg ref refs ex art app sect lot cat",
    ),
    (
        Use::Either,
        "pt pts hx dx tx rx tab tabs cap caps inj susp soln mg mcg ml hr hrs sec secs min mins wk wks yr yrs mo mos \
         temp resp dept hosp avg max conc wt ht abd neg pos exam lab labs med meds prn \
         etc al jr sr inc ltd co corp bros univ assoc ed eds sp spp ssp subsp var cv str \
         jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun",
    ),
];

const GERMAN: [(Use, &str); 3] = [
    (
        Use::Inside,
        "Hr Hrn Fr Frl dr dres prof dipl ing med phil rer nat habil pd geb st bzw ca evtl ggf inkl exkl sog vgl zzgl \
         abzgl gem mind insb insbes bspw einschl entspr jew allg ehem eigtl vs z.b d.h u.a i.d.r o.g s.o s.u u.u v.a \
         z.t z.n i.s a.d i.r o.ä u.ä d.s m.e i.e.s bds re li v.d",
    ),
    (
        Use::Numbered,
        "abb tab nr nrn bd bde kap s abs art aufl jg lfd ziff gr",
    ),
    (
        Use::Either,
        "usw etc al co str tel tägl stdl wö mg ml std min sek mon wo pat tbl kps amp inj \
         jan feb mrz apr jun jul aug sep sept okt nov dez mo di mi do fr sa so",
    ),
];

/// Words of titles of journals, as lists of references shorten them in every language.
const TITLES: &str = "J Acad Acta Adv Am Anal Anat Anesthesiol Ann Annu Appl Arch Assoc Bacteriol Biochem Bioinf Biol \
    Biophys Biotechnol Br Bull Cardiol Chem Chromatogr Clin Commun Crit Curr Cytogenet Dermatol Dev Dis Ecol Endocrinol \
    Environ Epidemiol Eur Evol Exp Gastroenterol Genet Hematol Hepatol Hum Immunol Infect Inorg Int Invest Lett Mech Med \
    Metab Microbiol Mol Natl Nephrol Neurol Neurosci Nucl Nutr Obstet Oncol Ophthalmol Opin Org Parasitol Pathol Pediatr \
    Pharmacol Phys Physiol Proc Psychiatr Psychol Radiol Res Rheumatol Sci Soc Spectrom Struct Surg Symp Toxicol Trans \
    Trop Vet Virol";

/// Serovars of *Salmonella*, which are written with a capital: `S. Typhimurium`.
const SEROVARS: &str = "Abortusovis Agona Anatum Arizonae Bareilly Braenderup Choleraesuis Derby Dublin Enteritidis \
    Gallinarum Hadar Heidelberg Infantis Javiana Kentucky Mbandaka Montevideo Muenchen Newport Paratyphi Pullorum Saintpaul \
    Schwarzengrund Senftenberg Typhi Typhimurium Virchow Weltevreden";

/// The second names of organisms, as some write them in titles: `The Role of H. Pylori`.
const EPITHETS: &str = "Aeruginosa Albicans Anthracis Aureus Baumannii Brucei Burgdorferi Cerevisiae Cholerae Coli Cruzi Difficile Elegans \
    Epidermidis Faecalis Faecium Falciparum Fumigatus Gondii Gonorrhoeae Influenzae Jejuni Laevis Mansoni Melanogaster \
    Meningitidis Monocytogenes Musculus Norvegicus Pestis Pneumoniae Pneumophila Pombe Pylori Pyogenes Rerio Sapiens Sativa \
    Subtilis Thaliana Trachomatis Vivax";

/// Words that begin sentences and are neither names nor nouns.
const ENGLISH_STARTERS: &str = "The This These Those That An In It Its We He She They You There Here However Moreover \
    Furthermore Therefore Thus Hence Although Though After Before When While If As At On For From To By With Without \
    Our His Her Their Your Both All Each No Not Then Also But And Or Since Such Some Many Most Several What How Why Who \
    Where Which Results Conclusion Conclusions Methods Background Finally Similarly Interestingly Because Despite During \
    Patients Yes One Two Three Our";

const GERMAN_STARTERS: &str = "Der Die Das Den Dem Des Ein Eine Einen Einem Es Er Sie Wir Ich Man Im In Am An Bei Beim Mit \
    Nach Vor Zu Zum Zur Von Vom Für Aus Auf Und Aber Oder Wenn Da Dies Diese Dieser Dieses Diesen Hier Auch Kein Keine Nicht \
    Daher Dann Zudem Außerdem Jedoch Weiterhin Ferner Unter Über Durch Ohne Seit Sein Seine Ihre Ob Als Wie Was Wer";

/// The abbreviations and first words of some languages.
#[derive(Clone, Debug)]
pub(super) struct Abbreviations {
    /// Without the last point; in small letters, unless they are known with a capital only.
    uses: HashMap<String, Use>,
    starters: HashSet<&'static str>,
    titles: HashSet<&'static str>,
    serovars: HashSet<&'static str>,
    epithets: HashSet<&'static str>,
    /// Whether a number with a point before a capital is an ordinal.
    pub ordinals: bool,
}

impl Abbreviations {
    pub fn new(languages: &[SentenceLanguage], more: &[String]) -> Self {
        let words = |list: &'static str| list.split_whitespace().filter(|_| !languages.is_empty());
        let mut all = Self {
            uses: HashMap::new(),
            starters: HashSet::new(),
            titles: words(TITLES).collect(),
            serovars: words(SEROVARS).collect(),
            epithets: words(EPITHETS).collect(),
            ordinals: languages.contains(&SentenceLanguage::German),
        };
        for language in languages {
            let (lists, starters) = match language {
                SentenceLanguage::English => (&ENGLISH, ENGLISH_STARTERS),
                SentenceLanguage::German => (&GERMAN, GERMAN_STARTERS),
            };
            for (usage, words) in lists {
                // What two languages use differently is what the first says.
                for word in words.split_whitespace() {
                    all.uses.entry(word.to_owned()).or_insert(*usage);
                }
            }
            all.starters.extend(starters.split_whitespace());
        }
        for word in more {
            let joined: String = word.split_whitespace().collect();
            all.uses
                .insert(joined.trim_end_matches('.').to_lowercase(), Use::Inside);
        }
        all
    }

    /// How an abbreviation is used that is written without its last point.
    pub fn get(&self, word: &str) -> Option<Use> {
        let found = self.uses.get(word);
        found.or_else(|| self.uses.get(&word.to_lowercase())).copied()
    }

    /// Whether a word is a shortened one of the title of a journal, without its point.
    pub fn is_title(&self, word: &str) -> bool {
        self.titles.contains(word)
    }

    /// Whether a word is the second name of an organism whose first one begins with a letter.
    pub fn is_organism(&self, letter: &str, word: &str) -> bool {
        self.epithets.contains(word) || letter == "S" && self.serovars.contains(word)
    }

    /// Whether a word, without what stands after its letters, is known to begin sentences.
    pub fn is_starter(&self, word: &str) -> bool {
        self.starters.contains(word)
    }
}
