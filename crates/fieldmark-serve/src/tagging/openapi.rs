//! The description of the API by OpenAPI 3.1, made from the table of routes and the types of requests and answers.

use super::requests::*;
use super::routes::Route;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// What a route does.
pub(super) struct Operation {
    pub method: &'static str,
    pub id: &'static str,
    pub summary: &'static str,
    pub details: &'static str,
    /// Whether the address may have `model` and `unit`.
    pub options: bool,
    pub request: Option<Content>,
    pub answer: Content,
    /// Whether it works without a token.
    pub public: bool,
    /// Statuses of refusals beside those that every route may have.
    pub refusals: &'static [u16],
}

/// A body: its media type, and what is in it.
pub(super) struct Content {
    pub media_type: &'static str,
    pub schema: fn(&mut SchemaGenerator) -> Value,
}

fn content<T: JsonSchema>() -> Content {
    Content {
        media_type: "application/json",
        schema: |generator| generator.subschema_for::<T>().to_value(),
    }
}

fn lines<T: JsonSchema>() -> Content {
    Content {
        media_type: "application/x-ndjson",
        schema: |generator| generator.subschema_for::<T>().to_value(),
    }
}

fn asked(id: &'static str, summary: &'static str, details: &'static str, answer: Content) -> Operation {
    Operation {
        method: "get",
        id,
        summary,
        details,
        options: false,
        request: None,
        answer,
        public: false,
        refusals: &[],
    }
}

const BODY_REFUSALS: &[u16] = &[400, 404, 408, 413, 415, 422];

pub(super) fn tag() -> Operation {
    Operation {
        method: "post",
        options: true,
        request: Some(content::<TagRequest>()),
        refusals: BODY_REFUSALS,
        ..asked(
            "tag",
            "Mark one text or several",
            "With `text`, the answer says what was found in it. With `texts`, `results` has an answer for each, in \
             order; a text that cannot be marked has an `error` there and does not hold up the others.",
            Content {
                media_type: "application/json",
                schema: |generator| {
                    let one = generator.subschema_for::<Tagged>();
                    let several = generator.subschema_for::<TaggedBatch>();
                    json!({ "oneOf": [one, several] })
                },
            },
        )
    }
}

pub(super) fn tag_lines() -> Operation {
    Operation {
        method: "post",
        options: true,
        request: Some(lines::<LineRequest>()),
        refusals: &[400, 404, 415],
        ..asked(
            "tagLines",
            "Mark a stream of lines",
            "Each line is a JSON string or an object with `text` and perhaps `id` and `model`; each answer is a line, in \
             the same order, and comes as soon as it is known. A line that names a model is answered by that one, \
             whatever the address says; places are counted as the address says. A line that cannot be marked, or names \
             a model that is not there, is answered by a line with `error`. \
             The stream may have any length, its lines have the limit of request bodies. Read answers while you send: \
             the server keeps few of them, and stops to read while nobody takes them.",
            lines::<TaggedLine>(),
        )
    }
}

pub(super) fn explain() -> Operation {
    Operation {
        method: "post",
        options: true,
        request: Some(content::<ExplainRequest>()),
        refusals: BODY_REFUSALS,
        ..asked(
            "explain",
            "Say why the tokens of a place got their labels",
            "For each token that the place touches: its label, the runner-up, and the features that decided between \
             them. Graphs have probabilities only.",
            content::<Explained>(),
        )
    }
}

pub(super) fn models() -> Operation {
    asked("models", "List the models", "", content::<ModelList>())
}

pub(super) fn health() -> Operation {
    Operation {
        public: true,
        ..asked("health", "Say that the server lives", "", content::<Health>())
    }
}

pub(super) fn metrics() -> Operation {
    asked(
        "metrics",
        "Say what the server has done, for Prometheus",
        "",
        Content {
            media_type: "text/plain",
            schema: |_| json!({ "type": "string" }),
        },
    )
}

pub(super) fn description() -> Operation {
    asked(
        "description",
        "Describe the API",
        "",
        Content {
            media_type: "application/json",
            schema: |_| json!({ "type": "object" }),
        },
    )
}

/// The description of all routes.
pub(super) fn document(routes: &[Route]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for Route { path, operation, .. } in routes {
        let described = operation.describe(&mut generator);
        let methods = paths.entry(*path).or_insert_with(|| json!({}));
        methods[operation.method] = described;
    }
    let refusal: Schema = generator.subschema_for::<Refusal>();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "fieldmark",
            "summary": "Marks text with conditional random fields",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "responses": {
                "Refusal": {
                    "description": "Why there is no answer, as a sentence",
                    "content": { "application/json": { "schema": refusal } },
                },
            },
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{ "token": [] }, {}],
    })
}

impl Operation {
    fn describe(&self, generator: &mut SchemaGenerator) -> Value {
        let answer = (self.answer.schema)(generator);
        let mut responses = json!({
            "200": {
                "description": "The answer",
                "content": { self.answer.media_type: { "schema": answer } },
            },
        });
        let everywhere: &[u16] = if self.public { &[403] } else { &[401, 403, 503] };
        for status in self.refusals.iter().chain(everywhere) {
            responses[status.to_string()] = json!({ "$ref": "#/components/responses/Refusal" });
        }
        let mut described = json!({
            "operationId": self.id,
            "summary": self.summary,
            "responses": responses,
        });
        if !self.details.is_empty() {
            described["description"] = self.details.into();
        }
        if self.public {
            described["security"] = json!([]);
        }
        if self.options {
            described["parameters"] = json!([
                {
                    "name": "model", "in": "query", "schema": { "type": "string" },
                    "description": "The name of a model; by default the first one of the server",
                },
                {
                    "name": "unit", "in": "query",
                    "schema": generator.subschema_for::<super::answer::UnitName>(),
                    "description": "How places are counted; by default in characters",
                },
            ]);
        }
        if let Some(request) = &self.request {
            let schema = (request.schema)(generator);
            described["requestBody"] = json!({
                "required": true,
                "content": { request.media_type: { "schema": schema } },
            });
        }
        described
    }
}
