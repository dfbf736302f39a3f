//! What goes into a model file comes out of it, in place and whichever way it is opened.

use fieldmark_core::container::{Container, ContainerErrorKind, ContainerWriter, Kind, Shared};
use proptest::prelude::*;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// The three ways to open what a writer holds.
fn opened(writer: &ContainerWriter<'_>) -> [Container; 3] {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.fmk");
    writer.write_to(&path).unwrap();
    let bytes = writer.to_bytes().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    [
        Container::open(&path).unwrap(),
        Container::open_in_memory(&path).unwrap(),
        Container::from_bytes(bytes).unwrap(),
    ]
}

#[test]
fn every_kind_of_section_comes_back() {
    let mut writer = ContainerWriter::new();
    writer
        .add_section("bytes", &b"\0\xff"[..])
        .add_str("text", "naïve ☃")
        .add_u16s("u16", vec![1, u16::MAX])
        .add_u32s("u32", &[1, u32::MAX])
        .add_u64s("u64", vec![1, u64::MAX])
        .add_f32s("f32", vec![-0.5, f32::MAX])
        .add_f64s("f64", vec![-0.5, f64::MIN_POSITIVE])
        .add_f64s("none", Vec::new());
    for container in opened(&writer) {
        assert_eq!(container.section("bytes").unwrap(), b"\0\xff");
        assert_eq!(container.str("text").unwrap(), "naïve ☃");
        assert_eq!(*container.u16s("u16").unwrap(), [1, u16::MAX]);
        assert_eq!(*container.u32s("u32").unwrap(), [1, u32::MAX]);
        assert_eq!(*container.u64s("u64").unwrap(), [1, u64::MAX]);
        assert_eq!(*container.f32s("f32").unwrap(), [-0.5, f32::MAX]);
        assert_eq!(*container.f64s("f64").unwrap(), [-0.5, f64::MIN_POSITIVE]);
        assert!(container.f64s("none").unwrap().is_empty());
        assert!(container.has("none") && !container.has("nothing"));
        let listed: Vec<_> = container
            .sections()
            .map(|s| (s.name, s.kind, s.bytes.len()))
            .collect();
        assert_eq!(
            listed[..3],
            [
                ("bytes", Kind::Bytes, 2),
                ("text", Kind::Text, 10),
                ("u16", Kind::U16, 4)
            ]
        );
        assert_eq!(listed[7], ("none", Kind::F64, 0));
    }
}

#[test]
fn an_empty_container_is_a_container() {
    for container in opened(&ContainerWriter::new()) {
        assert_eq!(container.sections().len(), 0);
        assert_eq!(container.file_len(), 64);
    }
}

#[test]
fn arrays_lie_in_place_after_neighbours_of_every_length() {
    let values: Vec<f64> = (0..9).map(f64::from).collect();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.fmk");
    for length in 0..=130 {
        let mut writer = ContainerWriter::new();
        writer
            .add_section("neighbour", vec![7; length])
            .add_f64s("array", &values);
        std::fs::write(&path, writer.to_bytes().unwrap()).unwrap();
        let mapped = Container::open(&path).unwrap();
        let array = mapped.f64s("array").unwrap();
        assert_eq!(*array, values);
        if cfg!(target_endian = "little") {
            assert!(matches!(array, Cow::Borrowed(_)));
        }
        assert_eq!(mapped.section("array").unwrap().as_ptr() as usize % 64, 0);
        assert_eq!(mapped.section("neighbour").unwrap(), vec![7; length]);
    }
}

#[test]
fn shared_arrays_outlive_the_handle_and_the_file() {
    let mut writer = ContainerWriter::new();
    writer
        .add_u32s("ids", vec![3, 1, 2])
        .add_f64s("weights", vec![0.5; 1000]);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.fmk");
    writer.write_to(&path).unwrap();
    let container = Arc::new(Container::open(&path).unwrap());
    let ids: Shared<u32> = container.shared("ids").unwrap();
    let weights: Shared<f64> = container.shared("weights").unwrap();
    assert_eq!(ids.is_owned(), cfg!(target_endian = "big"));
    drop(container);
    // A new model under the same name must leave the open one alone.
    ContainerWriter::new()
        .add_u32s("ids", vec![9; 1000])
        .write_to(&path)
        .unwrap();
    assert_eq!(*ids, [3, 1, 2]);
    assert_eq!(*weights.clone(), [0.5; 1000]);
    assert_eq!(ids, Shared::from(vec![3, 1, 2]));
    assert_eq!(ids.into_vec(), [3, 1, 2]);
    assert!(Shared::<u64>::default().is_empty());
}

#[test]
fn readers_are_told_what_a_section_is() {
    let mut writer = ContainerWriter::new();
    writer
        .add_f64s("weights", vec![1.0])
        .add_section("raw", &b"abcdef\xff"[..])
        .add_section("pair", &[1, 0, 2, 0]);
    let container = Arc::new(Container::from_bytes(writer.to_bytes().unwrap()).unwrap());
    assert_eq!(
        *container.u16s("pair").unwrap(),
        [1, 2],
        "bytes may be read as numbers"
    );
    assert_eq!(
        container.array::<u8>("weights").unwrap().len(),
        8,
        "numbers may be read as bytes"
    );
    let errors = [
        (
            container.u32s("weights").unwrap_err(),
            "section `weights` holds f64; expected u32",
        ),
        (
            container.str("weights").unwrap_err(),
            "section `weights` holds f64; expected text",
        ),
        (
            container.u16s("raw").unwrap_err(),
            "section `raw` holds 7 bytes; expected a multiple of 2 for u16 numbers",
        ),
        (
            container.str("raw").unwrap_err(),
            "section `raw` holds bytes that are not UTF-8 from 6 on; expected text",
        ),
        (
            container.section("none").unwrap_err(),
            "has `weights`, `raw`, `pair`; expected a section `none`",
        ),
        (
            container.shared::<f32>("weights").unwrap_err(),
            "section `weights` holds f64; expected f32",
        ),
        (
            container.wrong_section("raw", "7 rows", "8"),
            "section `raw` holds 7 rows; expected 8",
        ),
    ];
    for (error, expected) in errors {
        assert_eq!(error.kind(), ContainerErrorKind::Section);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn writers_reject_names_that_no_reader_could_use() {
    for names in [&["same", "other", "same"][..], &[""], &["new\nline"]] {
        let mut writer = ContainerWriter::new();
        for name in names {
            writer.add_section(name, Vec::new());
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.fmk");
        let error = writer.write_to(&path).unwrap_err();
        assert_eq!(error.kind(), ContainerErrorKind::Writer);
        assert!(
            error.to_string().starts_with(&path.display().to_string()),
            "{error}"
        );
        assert_eq!(writer.to_bytes().unwrap_err().kind(), ContainerErrorKind::Writer);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}

#[test]
fn foreign_files_get_one_sentence_with_the_path() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.fmk");
    let check = |open: fn(&Path) -> Result<Container, _>, kind, found: &str| {
        let error: fieldmark_core::container::ContainerError = open(&path).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(error.path(), Some(&*path));
        let sentence = error.to_string();
        assert!(
            sentence.starts_with(&path.display().to_string()) && !sentence.contains('\n'),
            "{sentence}"
        );
        assert!(sentence.contains(found), "{sentence}");
    };
    for open in [
        |path: &Path| Container::open(path),
        |path: &Path| Container::open_in_memory(path),
    ] {
        check(open, ContainerErrorKind::Io, "check the name");
        std::fs::create_dir(&path).unwrap();
        check(open, ContainerErrorKind::Io, "give the name of a file in it");
        std::fs::remove_dir(&path).unwrap();
        for (bytes, found) in [
            (&b""[..], "the file is empty"),
            (b"lCRF\x01\x02", "CRFsuite model"),
            (b"w\tB-NP\nx\tO\n", "text file"),
        ] {
            std::fs::write(&path, bytes).unwrap();
            check(open, ContainerErrorKind::Foreign, found);
        }
        std::fs::remove_file(&path).unwrap();
    }
}

#[derive(Clone, Debug)]
enum Data {
    Bytes(Vec<u8>),
    Text(String),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

fn data() -> impl Strategy<Value = Data> {
    use prop::collection::vec;
    prop_oneof![
        vec(any::<u8>(), 0..200).prop_map(Data::Bytes),
        any::<String>().prop_map(Data::Text),
        vec(any::<u16>(), 0..80).prop_map(Data::U16),
        vec(any::<u32>(), 0..80).prop_map(Data::U32),
        vec(any::<u64>(), 0..80).prop_map(Data::U64),
        vec(any::<f32>(), 0..80).prop_map(Data::F32),
        vec(any::<f64>(), 0..80).prop_map(Data::F64),
    ]
}

proptest! {
    #[test]
    fn any_sections_come_back(sections in prop::collection::btree_map("[ -~é☃]{1,60}", data(), 0..8)) {
        let mut writer = ContainerWriter::new();
        for (name, data) in &sections {
            match data {
                Data::Bytes(values) => writer.add_section(name, values),
                Data::Text(text) => writer.add_str(name, text),
                Data::U16(values) => writer.add_u16s(name, values),
                Data::U32(values) => writer.add_u32s(name, values),
                Data::U64(values) => writer.add_u64s(name, values),
                Data::F32(values) => writer.add_f32s(name, values),
                Data::F64(values) => writer.add_f64s(name, values),
            };
        }
        let container = Container::from_bytes(writer.to_bytes().unwrap()).unwrap();
        prop_assert!(container.sections().map(|section| section.name).eq(sections.keys()));
        for (name, data) in &sections {
            match data {
                Data::Bytes(values) => prop_assert_eq!(container.section(name).unwrap(), values),
                Data::Text(text) => prop_assert_eq!(container.str(name).unwrap(), text),
                Data::U16(values) => prop_assert_eq!(&*container.u16s(name).unwrap(), values),
                Data::U32(values) => prop_assert_eq!(&*container.u32s(name).unwrap(), values),
                Data::U64(values) => prop_assert_eq!(&*container.u64s(name).unwrap(), values),
                Data::F32(values) => prop_assert_eq!(&*container.f32s(name).unwrap(), values),
                Data::F64(values) => prop_assert_eq!(&*container.f64s(name).unwrap(), values),
            }
        }
    }
}
