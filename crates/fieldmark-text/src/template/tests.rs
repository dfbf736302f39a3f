use super::*;

const ROWS: [&str; 8] = ["He", "PRP", "reckons", "VBZ", "The", "DT", "Deficit", "NN"];

fn observations(template: &str, rows: &Rows<'_>, t: usize) -> Vec<String> {
    let template = Template::parse(template).unwrap();
    let mut found = Vec::new();
    template.observe(rows, t, &mut String::new(), |place, name| {
        let place = if place == Place::Step { "step " } else { "" };
        found.push(format!("{place}{name}"));
    });
    found
}

#[test]
fn macros_take_cells_around_the_row() {
    let rows = Rows::new(2, ROWS);
    let template =
        "# words\nU00:%x[-2,0]\nU01:%x[-1,0]\n\nU02:%x[0,0]/%x[0,1]\nU03:%x[1,0]\nU\nB01:%x[0,1]\nB\n";
    assert_eq!(
        observations(template, &rows, 0),
        ["U00:_B-2", "U01:_B-1", "U02:He/PRP", "U03:reckons", "U"]
    );
    let last = [
        "U00:reckons",
        "U01:The",
        "U02:Deficit/NN",
        "U03:_B+1",
        "U",
        "step B01:NN",
    ];
    assert_eq!(observations(template, &rows, 3), last);
}

#[test]
fn rows_far_outside_have_names_of_their_own_in_crfpp_macros() {
    let rows = Rows::new(2, ROWS);
    assert_eq!(observations("U:%x[-7,0]%x[9,0]", &rows, 1), ["U:_B-6_B+7"]);
    assert_eq!(
        observations("U:%X[-7,0]%X[9,0]%X[-2,0]%X[3,0]", &rows, 1),
        ["U:_x-#_x+#_x-1_x+1"]
    );
}

#[test]
fn wapiti_macros() {
    let rows = Rows::new(2, ROWS);
    let cases = [
        (r#"*a:%X[0,0]"#, vec!["*a:deficit", "step *a:deficit"]),
        (r#"u:%t[0,0,"^\u"] %t[-2,0,"^\u"]"#, vec!["u:true false"]),
        (r#"u:%t[1,0,"\u"]"#, vec!["u:false"]),
        (r#"u:%m[0,0,"^.?.?.?"]|%M[0,0,"^.?.?"]"#, vec!["u:Def|de"]),
        (r#"u:%m[0,0,"\d"]"#, vec!["u:"]),
        (r#"u:%T[0,0,"def"]"#, vec!["u:false"]),
        (
            r#"u:%x[@1,0] %x[@-1,0] %x[@0,0] %x[@9,0]"#,
            vec!["u:He Deficit _x-1 _x+#"],
        ),
        ("u:%t[0,0,\"\\\"#\"]", vec!["u:false"]),
    ];
    for (template, expected) in cases {
        assert_eq!(observations(template, &rows, 3), expected, "{template}");
    }
}

#[test]
fn a_column_can_say_how_far_to_look() {
    let rows = Rows::new(2, ["a", "2", "b", "-1", "c", "+x", "d", "99"]);
    let seen: Vec<_> = (0..4)
        .flat_map(|t| observations("U:%x[*1,0]", &rows, t))
        .collect();
    assert_eq!(seen, ["U:c", "U:a", "U:c", "U:_x+#"]);
}

#[test]
fn lines_without_macros() {
    let template = Template::parse("B").unwrap();
    assert!(template.label_bigram() && !template.has_step_observations() && template.columns() == 0);
    let rows = Rows::new(2, ROWS);
    assert_eq!(observations("B", &rows, 1), [""; 0]);
    assert_eq!(observations("*", &rows, 1), ["*"]);
    assert!(Template::parse("*").unwrap().label_bigram());
    assert!(!Template::parse("U\nB:%x[0,0]").unwrap().label_bigram());
}

#[test]
fn comments_blanks_and_line_ends() {
    let rows = Rows::new(2, ROWS);
    let template = "\u{FEFF}U:%x[0,0]  # the word\r\n   \r\n# U:%x[9,9]\r\nU#:%x[ 0 , 1 ]#\r\n";
    assert_eq!(observations(template, &rows, 0), ["U:He", "U#:PRP#"]);
}

#[test]
fn errors_name_line_and_column() {
    let cases = [
        ("", 1, 1, "no line"),
        ("# only\n", 1, 1, "no line"),
        ("U:%x[0,0]\nX:%x[0,0]", 2, 1, "found `X`"),
        ("U:é%y[0,0]", 1, 4, "found `%y`"),
        ("U:%", 1, 3, "found `%`"),
        ("U:%x(0,0)", 1, 5, "expected `[`"),
        ("U:%x[a,0]", 1, 6, "expected a row"),
        ("U:%x[0 0]", 1, 8, "expected `,`"),
        ("U:%x[0,-1]", 1, 8, "expected a column"),
        ("U:%x[0,99999]", 1, 8, "expected a column"),
        ("U:%x[99999999999,0]", 1, 6, "expected a row"),
        ("U:%x[0,0", 1, 9, "the line ends"),
        ("U:%t[0,0]", 1, 9, "expected `,`"),
        ("U:%t[0,0,x]", 1, 10, "expected `\"`"),
        ("U:%t[0,0,\"a\\\"]", 1, 10, "does not end"),
        ("U:%t[0,0,\"é*?\"]", 1, 13, "no character before `?`"),
        ("U:%t[0,0,\"a\" ", 1, 14, "the line ends"),
    ];
    for (template, line, column, message) in cases {
        let error = Template::parse(template).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{template}: {error}");
        assert!(error.message.contains(message), "{template}: {error}");
    }
}

#[test]
fn the_source_is_kept_and_the_columns_are_known() {
    let source = "# a\nU:%x[0,0]\nU:%t[0,3,\"a\"]\n";
    let template = Template::parse(source).unwrap();
    assert_eq!((template.source(), template.columns()), (source, 4));
    assert_eq!(Template::parse("U:%x[*5,1]").unwrap().columns(), 6);
    template.check_columns(4, true).unwrap();
    let error = template.check_columns(3, true).unwrap_err().to_string();
    let expected = "`%t[0,3,\"a\"]` in line 3 of the template asks for column 3, but the data have only columns 0 to 2 and the label";
    assert_eq!(error, expected);
    assert_eq!(Template::each_column(2).source(), "U00:%x[0,0]\nU01:%x[0,1]\n");
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_template_or_an_error(source in "([UB*#]|%[xXtm]|\\[|\\]|,|\"|\\\\|[0-9a\n é-]){0,30}") {
        if let Ok(template) = Template::parse(&source) {
            let rows = Rows::new(2, ROWS);
            for t in 0..4 {
                template.observe(&rows, t, &mut String::new(), |_, _| {});
            }
            proptest::prop_assert_eq!(template.source(), source);
        }
    }
}
