//! A server with two simulated devices, one of which a job has.

use std::net::SocketAddr;
use std::sync::Arc;

use base::config::Config;
use hostd::groups::Loading;
use hostd::http::gateway::Gateway;
use hostd::http::relay::{FOLDER, Relay, Relays};
use hostd::http::server;
use hostd::plugin::Opened;
use hostd::services::Services;
use hostd::{demo, opening, serve};
use identity::JobGrant;
use lab::leases::{self, Claim};
use pod_sim::{SimConfig, SimPod};
use serde_json::json;
use store::users::Role;
use tempfile::TempDir;
use tokio::net::{TcpStream, UnixStream};

use super::http::{Answer, Ask};
use crate::embedded::HANDLERS;

/// Name of the job's device.
pub(super) const DEVICE: &str = "demo";

/// Name of a device that the job does not have.
pub(super) const OTHER: &str = "other";

/// Lifetime of the job's lease, in seconds.
const LEASE_S: u64 = 300;

pub(super) struct Stage {
    pub(super) services: Arc<Services>,
    pub(super) gateway: Arc<Gateway>,
    pub(super) config: Config,
    pub(super) relays: Relays,
    /// `Authorization` of an owner, by a key with every scope.
    pub(super) owner: String,
    /// Id of the user whose jobs these are.
    pub(super) user: String,
    address: SocketAddr,
    pub(super) folder: TempDir,
}

impl Stage {
    pub(super) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = Config {
            data_dir: folder.path().join("data"),
            ..Config::default()
        };
        let (services, _) = opening::open(&config).await.unwrap();
        let services = Arc::new(services);
        services.auth.bootstrap().await.unwrap();
        services.devices.load().await.unwrap();
        let demo = demo::ensure(&services).await.unwrap();
        let org = services.auth.default_org();
        let other = SimPod::new(SimConfig {
            seed: 2,
            ..SimConfig::default()
        });
        let attached = services
            .devices
            .attach_transport(&org, OTHER, "sim:other", other);
        attached.await.unwrap();
        let ann = services.auth.user_add("default", "ann", Role::Admin);
        let user = ann.await.unwrap().id;
        let loading = Loading::start(&config.handlers, HANDLERS).unwrap();
        let opened = Opened::open(&config.data_dir, &config.plugins, &services);
        let opened = opened.await.unwrap();
        let gateway = Arc::new(serve::gateway(&config, loading, &services, opened, None).unwrap());
        services.devices.settle(demo::ONLINE_WAIT).await;

        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let sockets = config.data_dir.join(FOLDER);
        let relays = Relays::new(gateway.clone(), &config.http, &sockets).unwrap();
        let (answering, http) = (gateway.clone(), config.http.clone());
        tokio::spawn(async move {
            let serving = server::serve(listener, answering, &http, std::future::pending());
            serving.await.unwrap();
        });
        Self {
            services,
            gateway,
            config,
            relays,
            owner: format!("ApiKey {}", demo.api_key),
            user,
            address,
            folder,
        }
    }

    pub(super) fn device(&self, name: &str) -> String {
        let all = self.services.devices.all();
        all.into_iter().find(|d| d.name == name).unwrap().id
    }

    pub(super) fn grant(&self, job: &str) -> JobGrant {
        JobGrant {
            org: self.services.auth.default_org(),
            user: self.user.clone(),
            job: job.to_owned(),
            run: "smoke".to_owned(),
            attempt: 1,
            device: self.device(DEVICE),
            lease_id: format!("lease-of-{job}"),
            lease_owner: format!("job/{job}"),
        }
    }

    /// A job with its device, by its lease, and its relay.
    pub(super) async fn job(&self, job: &str) -> Job {
        let grant = self.grant(job);
        let claim = Claim {
            lease_id: grant.lease_id.clone(),
            owner: grant.lease_owner.clone(),
            holder: job.to_owned(),
            device_name: DEVICE.to_owned(),
            ttl_ms: LEASE_S * 1000,
        };
        let leases = &self.services.leases;
        leases
            .acquire(&grant.device, claim, leases::Ask::ONCE)
            .await
            .unwrap();
        let relay = self.relays.open(grant).unwrap();
        let key = relay.secret().expose().to_owned();
        let mut job = Job {
            key: format!("ApiKey {key}"),
            session: String::new(),
            relay,
        };
        job.session = job.exchange().await;
        job
    }

    /// Ask over the network.
    pub(super) async fn ask(&self, ask: &Ask<'_>) -> Answer {
        ask.over(TcpStream::connect(self.address).await.unwrap())
            .await
    }
}

/// A job, and how it asks.
pub(super) struct Job {
    pub(super) relay: Relay,
    /// `Authorization` by its key.
    pub(super) key: String,
    /// `Authorization` by a session token minted from that.
    pub(super) session: String,
}

impl Job {
    pub(super) async fn connect(&self) -> UnixStream {
        UnixStream::connect(self.relay.socket()).await.unwrap()
    }

    /// Ask over the relay.
    pub(super) async fn ask(&self, ask: &Ask<'_>) -> Answer {
        ask.over(self.connect().await).await
    }

    async fn exchange(&self) -> String {
        let body = json!({"ttl_seconds": 3600});
        let exchange = Ask::post("/api/auth/token", &self.key, body);
        let token = self.ask(&exchange).await.ok();
        format!("Bearer {}", token["token"].as_str().unwrap())
    }

    /// A request to one of the lease endpoints, as published clients make it.
    pub(super) async fn lease(&self, endpoint: &str, lease: &str) -> Answer {
        let path = format!("/api/cloud/devices/lease{endpoint}?device={DEVICE}");
        let body = json!({"lease_id": lease, "run_label": "host:1", "ttl_seconds": 15});
        self.ask(&Ask::post(&path, &self.session, body)).await
    }
}

/// A command to a device.
pub(super) fn ping<'a>(path: &'a str, credential: &str) -> Ask<'a> {
    let body = json!({"command": {"cmd": "ping"}, "timeout_ms": 5000});
    Ask::post(path, credential, body)
}

/// Where commands to the job's device go.
pub(super) const COMMAND: &str = "/api/cloud/devices/command?device=demo";
