//! Reads any bytes as the three files of the gene mention task, split at NUL, with every choice of forms; what was read is
//! written and can be read again.

#![no_main]

use fieldmark_fuzz::documents::{read, source, write};
use fieldmark_text::formats::{GeneMentionReader, GeneMentionWriter, Mentions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(3, |&byte| byte == 0).map(source);
    let [sentences, genes, alternatives] = [(); 3].map(|()| parts.next().unwrap_or_else(|| source(b"")));
    for mentions in [Mentions::Gold, Mentions::Short, Mentions::Long, Mentions::All] {
        let reader = GeneMentionReader::new(&sentences, Some(&genes), Some(&alternatives), mentions);
        let Some(documents) = read(reader) else { return };
        let mut writer = GeneMentionWriter::new(Vec::new(), Vec::new(), Vec::new());
        write(&mut writer, &documents);
        let [sentences, genes, alternatives] = writer.into_inner().map(|output| source(&output));
        let reader = GeneMentionReader::new(&sentences, Some(&genes), Some(&alternatives), Mentions::All);
        assert_eq!(read(reader).unwrap().len(), documents.len());
    }
});
