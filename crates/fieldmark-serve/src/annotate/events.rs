//! News for pages that are open: server-sent events.

use super::routes::blocking;
use crate::engine::Engine;
use crate::engine::wire::News;
use crate::http::Shutdown;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Many answers in a short time are one piece of news.
const PAUSE: Duration = Duration::from_millis(250);

/// How things are now, and again whenever they have changed, until the page or the server is closed, or the person has no
/// link any longer.
pub(super) fn events(
    engine: Arc<Engine>,
    user: String,
    shutdown: Shutdown,
) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<>> {
    let mut news = engine.news();
    news.mark_changed();
    let stream = unfold((news, shutdown), move |(mut news, mut shutdown)| {
        let (engine, user) = (engine.clone(), user.clone());
        async move {
            let changed = tokio::select! {
                changed = next(&mut news) => changed?,
                () = shutdown.asked() => return None,
            };
            blocking(move || engine.may_enter(&user))
                .await
                .ok()
                .filter(|&may| may)?;
            let event = Event::default().json_data(changed).unwrap_or_default();
            Some((Ok(event), (news, shutdown)))
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::default())
}

async fn next(news: &mut watch::Receiver<News>) -> Option<News> {
    news.changed().await.ok()?;
    let first = news.borrow_and_update().clone();
    if first.progress.answers > 0 {
        tokio::time::sleep(PAUSE).await;
    }
    Some(news.borrow_and_update().clone())
}
