//! Which connections are admitted, and which are closed for them.

use http::Version;
use tokio::time::{advance, timeout};

use super::*;
use crate::http::body::ResponseBody;
use crate::http::flow::Asked;

const HEAD_WAIT: Duration = Duration::from_secs(60);

struct Stage {
    connections: Arc<Connections>,
    counters: Arc<ConnectionCounters>,
}

struct Client {
    seat: Seat,
    flows: Arc<Flows>,
}

impl Stage {
    fn new(total_max: u32, per_address_max: u32, reserve_max: u32) -> Self {
        let limits = ConnectionLimits {
            total_max,
            per_address_max,
            reserve_max,
        };
        let counters = Arc::new(ConnectionCounters::default());
        Self {
            connections: Connections::new(limits, counters.clone()),
            counters,
        }
    }

    /// A connection from 192.0.2.`host`, a second after the one before.
    async fn connect(&self, host: u8) -> Option<Client> {
        self.admit(Some(std::net::IpAddr::from([192, 0, 2, host]).into()))
            .await
    }

    async fn admit(&self, address: Option<Address>) -> Option<Client> {
        advance(Duration::from_secs(1)).await;
        let flows = Arc::new(Flows::default());
        let seat = self.connections.admit(address, flows.clone())?;
        Some(Client { seat, flows })
    }

    fn counts(&self) -> [u64; 4] {
        let ConnectionCounters {
            open,
            refused,
            shed,
            reserved,
            ..
        } = &*self.counters;
        [open, refused, shed, reserved].map(|counter| counter.load(Ordering::Relaxed))
    }
}

impl Client {
    fn ask(&self) -> Asked {
        self.flows.ask(Version::HTTP_11)
    }

    /// Ask something and get the answer.
    fn be_answered(&self) {
        drop(self.ask().answer(ResponseBody::empty()));
    }

    async fn is_shed(&self) -> bool {
        let now = Duration::from_millis(1);
        timeout(now, self.seat.shed()).await.is_ok()
    }
}

#[tokio::test(start_paused = true)]
async fn the_idlest_makes_room_and_none_that_is_busy() {
    let stage = Stage::new(4, 4, 0);
    let quiet = stage.connect(1).await.unwrap();
    quiet.be_answered();
    let busy = stage.connect(1).await.unwrap();
    let asked = busy.ask();
    let silent = stage.connect(1).await.unwrap();
    let lately = stage.connect(1).await.unwrap();
    lately.be_answered();
    let mut newcomers = Vec::new();
    // First the one that has never asked anything, though others are older.
    for next in [&silent, &quiet, &lately] {
        assert!(!next.is_shed().await);
        let newcomer = stage.connect(2).await.unwrap();
        newcomer.be_answered();
        assert_eq!(newcomer.seat.standing(), Standing::Ordinary);
        newcomers.push(newcomer);
        assert!(next.is_shed().await);
    }
    // Now newcomers make room for each other, the longest quiet first.
    assert!(stage.connect(3).await.is_some());
    assert!(newcomers[0].is_shed().await && !newcomers[1].is_shed().await);
    assert!(!busy.is_shed().await);
    drop(asked);
    assert_eq!(stage.counts()[1..], [0, 4, 0]);
}

#[tokio::test(start_paused = true)]
async fn an_address_that_has_its_share_makes_room_for_itself() {
    let stage = Stage::new(10, 2, 0);
    let other = stage.connect(1).await.unwrap();
    let first = stage.connect(2).await.unwrap();
    let second = stage.connect(2).await.unwrap();
    let third = stage.connect(2).await.unwrap();
    assert!(first.is_shed().await);
    assert!(!other.is_shed().await && !second.is_shed().await);
    // When it is busy with all of them, nobody else's is taken.
    let (_one, _two) = (second.ask(), third.ask());
    assert!(stage.connect(2).await.is_none());
    assert!(!other.is_shed().await);
    assert!(stage.connect(3).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn the_reserve_is_open_when_all_are_busy() {
    let stage = Stage::new(2, 2, 2);
    let busy = [
        stage.connect(1).await.unwrap(),
        stage.connect(1).await.unwrap(),
    ];
    let mut asked: Vec<_> = busy.iter().map(Client::ask).collect();
    let first = stage.connect(2).await.unwrap();
    assert_eq!(first.seat.standing(), Standing::Reserve);
    let second = stage.connect(2).await.unwrap();
    let _second_asks = second.ask();
    // Silent ones cannot hold the reserve either.
    let third = stage.connect(3).await.unwrap();
    assert!(first.is_shed().await && !second.is_shed().await);
    let _third_asks = third.ask();
    assert!(stage.connect(4).await.is_none());
    assert_eq!(stage.counts(), [5, 1, 1, 3]);
    // As soon as there is room, a connection in the reserve is as good as any.
    asked.pop();
    drop(busy);
    assert_eq!(third.seat.standing(), Standing::Ordinary);
    drop((first, second, third));
    assert_eq!(stage.counts()[0], 0);
    let state = stage.connections.lock();
    assert!(state.ordinary.is_empty() && state.reserve.is_empty() && state.by_address.is_empty());
}

#[tokio::test(start_paused = true)]
async fn one_that_is_asked_just_then_stays() {
    let stage = Stage::new(1, 1, 0);
    let first = stage.connect(1).await.unwrap();
    let second = stage.connect(1).await.unwrap();
    let asked = first.ask();
    assert!(!first.is_shed().await);
    assert_eq!(stage.connections.lock().ordinary.len(), 2);
    // It has its place again, and gives it up later like any other.
    drop((asked, second));
    let third = stage.connect(1).await.unwrap();
    assert!(first.is_shed().await && !third.is_shed().await);
}

#[tokio::test(start_paused = true)]
async fn silence_is_borne_for_less_time_under_pressure() {
    let silence = async |client: &Client| {
        let from = tokio::time::Instant::now();
        let limit = HEAD_WAIT * 2;
        let silent = timeout(limit, client.seat.silence(HEAD_WAIT)).await;
        silent.ok().map(|()| from.elapsed().as_secs())
    };
    let stage = Stage::new(4, 4, 1);
    let first = stage.connect(1).await.unwrap();
    assert_eq!(silence(&first).await, Some(60));
    let _others = [stage.connect(1).await, stage.connect(1).await];
    assert_eq!(silence(&first).await, Some(5));
    first.be_answered();
    assert_eq!(silence(&first).await, None);
    let stage = Stage::new(0, 0, 1);
    let reserved = stage.connect(1).await.unwrap();
    assert_eq!(silence(&reserved).await, Some(1));
}

#[tokio::test(start_paused = true)]
async fn idle_ones_go_when_something_else_is_short() {
    let stage = Stage::new(9, 9, 0);
    let busy = stage.connect(1).await.unwrap();
    let _asked = busy.ask();
    let idle = [
        stage.connect(1).await.unwrap(),
        stage.connect(2).await.unwrap(),
    ];
    stage.connections.relieve(1);
    assert!(idle[0].is_shed().await && !idle[1].is_shed().await);
    stage.connections.relieve(9);
    assert!(idle[1].is_shed().await && !busy.is_shed().await);
}

#[tokio::test(start_paused = true)]
async fn those_behind_a_proxy_have_no_share_of_an_address() {
    let stage = Stage::new(4, 1, 1);
    let mut inside = Vec::new();
    for _ in 0..4 {
        let client = stage.admit(None).await.unwrap();
        assert_eq!(client.seat.standing(), Standing::Ordinary);
        inside.push((client.ask(), client));
    }
    let more = stage.admit(None).await.unwrap();
    assert_eq!(more.seat.standing(), Standing::Reserve);
}
