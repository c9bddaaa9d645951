// Written by api.mjs from hostd's OpenAPI document; `npm run api` writes it again.

export type Error = { busy?: boolean; code: string; error: string; expires_at?: string | null; fields?: readonly ({ field: string; message: string })[]; holder?: string | null; problems?: readonly ({ code: string; column: number; line: number; message: string; path: string })[]; queue_place?: number; reason?: string; request_id: string };
/** A sign-in code. */
export type AuthCode = { code: string; code_expires_at: string; code_expires_in: number };
/** A device that something is restricted to. */
export type AuthDevice = { id: string; name: string };
/** A session token, as clients of OAuth read it. */
export type AuthExchanged = { access_token: string; expires_at: string; expires_in: number; token_type: "bearer" };
/** Who asks. */
export type AuthIdentity = { credential: "api_key" | "user_session" | "cloud_session"; devices: readonly (AuthDevice)[] | null; expires_at: string | null; kid: string | null; login: string; org: string; org_name: string; role: "member" | "admin" | "owner"; scopes: readonly (string)[]; user: string };
/** An API key, without its secret. */
export type AuthKey = { created_at: string; expires_at: string | null; kid: string; last_used_at: string | null; name: string; owner: string; scopes: readonly ("jobs:submit" | "bench:control" | "emi:analyze" | "bench:admin")[] };
/** Keys of an organisation, or of one user. */
export type AuthKeys = { keys: readonly (AuthKey)[] };
/** An API key that was just made. */
export type AuthNewKey = { created_at: string; expires_at: string | null; kid: string; last_used_at: string | null; name: string; owner: string; scopes: readonly ("jobs:submit" | "bench:control" | "emi:analyze" | "bench:admin")[]; secret: string };
/** A user that was just added. */
export type AuthNewUser = { code: string; code_expires_at: string; code_expires_in: number; created_at: string; disabled: boolean; has_password: boolean; id: string; login: string; role: "member" | "admin" | "owner"; signed_in_at: string | null };
/** A session that was renewed. */
export type AuthRenewed = { access_expires_at: string; access_expires_in: number; access_token: string; refresh_expires_at: string; refresh_expires_in: number; refresh_token: string; session_id: string; user_id: string };
/** A rule that lets CI runs in. */
export type AuthRule = { created_at: string; devices: readonly (AuthDevice)[] | null; enabled: boolean; environment: string | null; id: string; ref: string | null; repository: string; ttl_seconds: number; user: string };
/** The rules of an organisation. */
export type AuthRules = { rules: readonly (AuthRule)[] };
/** A session of a person. */
export type AuthSession = { expires_at: string; expires_in: number; refresh_expires_at?: string; refresh_expires_in?: number; refresh_token?: string; session_id?: string; token: string; token_type: "bearer"; user: string };
/** A session token. */
export type AuthToken = { expires_at: string; expires_in: number; token: string; token_type: "bearer" };
/** A user of the organisation. */
export type AuthUser = { created_at: string; disabled: boolean; has_password: boolean; id: string; login: string; role: "member" | "admin" | "owner"; signed_in_at: string | null };
/** The users of an organisation. */
export type AuthUsers = { users: readonly (AuthUser)[] };
/** A badge. */
export type BadgesBadge = { created_at: string; id: string; image: string; label: string; name: string; ref: string | null; user: string; word: "unknown" | "running" | "passing" | "failing" | "infrastructure" };
/** The badges of an organisation. */
export type BadgesBadges = { badges: readonly (BadgesBadge)[] };
/** A file that was stored. */
export type BuildsAdded = { build_id: string; name: string; sha256: string; size_bytes: number };
/** A file of a build. */
export type BuildsArtifact = { commit: string; content_type: string; created_at: string; format: "elf" | "hex" | "bin" | "uf2" | "other"; job_id: string; name: string; pack_id: string; ref: string; repo: string; sha: string; sha256: string; size_bytes: number; wiring_defaults: Readonly<Record<string, unknown>> };
/** What could be flashed. */
export type BuildsArtifacts = { artifacts: readonly (BuildsArtifact)[] };
/** A build. */
export type BuildsBuild = { build_id: string; created_at: string; reason: string; status: "open" | "success" | "failure" };
/** What was found. */
export type BuildsFound = { artifact: BuildsArtifact };
/** An analog channel; values are in its unit. */
export type CapturesAnalogMeasures = { base: number; deviation: number; fall_s?: CapturesTimes; frequency_hz?: number; max: number; mean: number; min: number; overshoot?: number; peak_to_peak: number; rise_s?: CapturesTimes; rms: number; top: number; undershoot?: number };
/** What a rule comes to. */
export type CapturesAssertion = { found: number; kind: string; margin: CapturesAssertionMargin | null; name: string; place: CapturesAssertionPlace | null; places: readonly (CapturesAssertionPlace)[]; seen: string; verdict: CapturesAssertionVerdict; wanted: string };
/** How near a rule was. */
export type CapturesAssertionMargin = { unit: string; value: number };
/** A part of a capture; times are seconds from the trigger. */
export type CapturesAssertionPlace = { channel: string; from_s: number; from_sample: number; to_s: number; to_sample: number };
/** Whether a rule holds. */
export type CapturesAssertionVerdict = "passed" | "failed" | "error";
/** What all rules come to. */
export type CapturesAssertions = { errors: number; failed: number; passed: number; rules: readonly (CapturesAssertion)[] };
/** A capture without its samples. */
export type CapturesCapture = { channels: readonly (CapturesChannel)[]; created_at: string; device_id: string; error?: string; finished_at?: string; id: string; job?: CapturesCaptureJob; kind: "scope" | "logic" | "i2c" | "dual" | "measure"; name?: string; pinned: boolean; status: "pending" | "armed" | "running" | "done" | "failed" | "timed_out" | "cancelled"; trigger?: CapturesTrigger; trigger_sample: number | null };
/** Firmware of the target. */
export type CapturesCaptureFirmware = { build?: string; name: string; sha256: string };
/** Samples that were lost. */
export type CapturesCaptureGap = { from: number; to: number };
/** A capture and what is kept with it, without its samples. */
export type CapturesCaptureInFull = { channels: readonly (CapturesChannel)[]; created_at: string; device_id: string; error?: string; finished_at?: string; gaps?: readonly (CapturesCaptureGap)[]; id: string; job?: CapturesCaptureJob; kind: "scope" | "logic" | "i2c" | "dual" | "measure"; markers: readonly (CapturesCaptureMarker)[]; name?: string; pinned: boolean; setup?: CapturesCaptureSetup; status: "pending" | "armed" | "running" | "done" | "failed" | "timed_out" | "cancelled"; trigger?: CapturesTrigger; trigger_sample: number | null };
/** The job that recorded a capture, and what of it. */
export type CapturesCaptureJob = { attempt?: number; id: string; run?: string; step?: string };
/** Where a capture is to be had as a file. */
export type CapturesCaptureLink = { expires_at: string; url: string };
/** A place in a capture, and what is there. */
export type CapturesCaptureMarker = { channel: number; note: string; sample: number };
/** What was found. */
export type CapturesCaptureSearch = { next: number | null; results: readonly (CapturesCaptureSearchResult)[]; sample_rate_hz: number };
/** A place in a capture. */
export type CapturesCaptureSearchResult = { from: number; text: string; to: number };
/** What a capture was made with. */
export type CapturesCaptureSetup = { firmware?: CapturesCaptureFirmware; holder?: string; wiring?: Readonly<Record<string, unknown>> };
/** A capture with a page of its samples. */
export type CapturesCaptureWithFrames = { channels: readonly (CapturesChannel)[]; created_at: string; decoded?: CapturesDecoded; decoded_truncated?: boolean; device_id: string; error?: string; finished_at?: string; frames?: readonly (CapturesFrame)[]; gaps?: readonly (CapturesCaptureGap)[]; id: string; job?: CapturesCaptureJob; kind: "scope" | "logic" | "i2c" | "dual" | "measure"; markers: readonly (CapturesCaptureMarker)[]; name?: string; next_seq?: number; pinned: boolean; setup?: CapturesCaptureSetup; status: "pending" | "armed" | "running" | "done" | "failed" | "timed_out" | "cancelled"; trigger?: CapturesTrigger; trigger_sample: number | null };
/** What was found in many captures. */
export type CapturesCapturesSearch = { captures: readonly (CapturesCapturesSearchResult)[]; next_cursor?: string; searched: number; skipped: number };
/** A capture in which something is found. */
export type CapturesCapturesSearchResult = { created_at: string; device_id: string; id: string; more: boolean; name?: string; results: readonly (CapturesCaptureSearchResult)[] };
/** What one input gave. */
export type CapturesChannel = { bits: number; full_scale: number; id: number; label?: string; name: string; offset: number; sample_rate_hz: number; samples: number; type: "analog" | "digital"; unit: string };
/** How many events there are, from afar. */
export type CapturesDecodeSummary = { classes: Readonly<Record<string, readonly (number)[]>>; from: number; gaps?: readonly (CapturesCaptureGap)[]; stretches: number; to: number };
/** What went over the bus. */
export type CapturesDecoded = { i2c: readonly (CapturesEvent)[] };
/** A digital channel. Pulses and periods count when both of their edges are in the range. */
export type CapturesDigitalMeasures = { duty?: number; falling: number; frequency_hz?: number; high_s?: CapturesTimes; high_samples: number; low_s?: CapturesTimes; period_s?: CapturesTimes; rising: number };
/** An edge. */
export type CapturesEdgeFound = { channel: number; sample: number | null };
/** An annotation of a decoder. */
export type CapturesEvent = { class: string; decoder: string; end: number; start: number; text: string; value?: number; values?: readonly (number)[] };
/** A stretch of a channel's samples. */
export type CapturesFrame = { channel: number; count: number; data: string | readonly (number)[]; encoding: "b64-u16le" | "rle"; seq: number; start_sample: number };
/** An imported capture. */
export type CapturesImportedCapture = { channels: readonly (CapturesChannel)[]; created_at: string; device_id: string; error?: string; finished_at?: string; id: string; job?: CapturesCaptureJob; kind: "scope" | "logic" | "i2c" | "dual" | "measure"; name?: string; notes?: readonly (string)[]; pinned: boolean; status: "pending" | "armed" | "running" | "done" | "failed" | "timed_out" | "cancelled"; trigger?: CapturesTrigger; trigger_sample: number | null };
/** A page of captures. */
export type CapturesListed = { captures: readonly (CapturesCapture)[]; next_cursor?: string };
/** All decoders. */
export type CapturesListed2 = { decoders: readonly (CapturesShown)[] };
/** A channel, measured. */
export type CapturesMeasured = { analog?: CapturesAnalogMeasures; channel: number; digital?: CapturesDigitalMeasures; from: number; name: string; sample_rate_hz: number; to: number; unit: string };
/** A channel from afar. */
export type CapturesOverview = { channel: number; from: number; max: readonly (number)[]; min: readonly (number)[]; name: string; points: number; sample_rate_hz: number; to: number; trigger_s: number | null; unit: string };
/** A tone that stands out. */
export type CapturesPeak = { amplitude: number; frequency_hz: number };
/** A decoder. */
export type CapturesShown = { channels: readonly (CapturesShownRole)[]; classes: readonly (CapturesShownClass)[]; engine: string; id: string; name: string; options: readonly (CapturesShownOption)[]; rows: readonly (CapturesShownRow)[] };
/** A class of annotations. */
export type CapturesShownClass = { id: string; text: string };
/** An option of a decoder. */
export type CapturesShownOption = { default: string; id: string; text: string; values?: readonly (string)[] };
/** A role that a channel of the capture plays. */
export type CapturesShownRole = { id: string; name: string; required: boolean };
/** A row. */
export type CapturesShownRow = { classes: readonly (string)[]; id: string; text: string };
/** The spectrum of a channel. Amplitudes are those of sines, in the channel's unit; the first one is that of the mean. */
export type CapturesSpectrum = { amplitudes: readonly (number)[]; averages: number; channel: number; from: number; length: number; name: string; peaks: readonly (CapturesPeak)[]; resolution_hz: number; sample_rate_hz: number; step_hz: number; to: number; unit: string };
/** A capture that is to come. */
export type CapturesStarted = { capture_id: string; status: "pending" | "armed" | "running" | "done"; warnings?: readonly (string)[] };
/** One channel. Stretches behind its end are left out. */
export type CapturesTileLane = { channel: number; max?: readonly (number)[]; min?: readonly (number)[]; states?: readonly (number)[] };
/** Channels in stretches. */
export type CapturesTiles = { gaps?: readonly (CapturesCaptureGap)[]; index: number; lanes: readonly (CapturesTileLane)[]; level: number; stretches: number };
/** What times have in common, in seconds. */
export type CapturesTimes = { count: number; max: number; mean: number; min: number; p50: number; p99: number };
/** Whether the trigger came. */
export type CapturesTrigger = { fired: boolean; found_after?: number; index: number | null; pre_samples?: number };
/** What became of a command. */
export type CloudAnswer = { data?: unknown; device_id: string; error?: string; request_id: string; status: "ok" | "error" };
/** What became of the lease. */
export type CloudEnded = { device: string; expires_at?: string | null; holder?: string | null; released: boolean; safe?: boolean };
/** A lease that is held. */
export type CloudHeld = { device: string; expires_at: string; holder: string; lease_id: string };
/** What became of a command. */
export type DevicesAnswer = { data?: unknown; device_id: string; error?: string; request_id: string; status: "ok" | "error" };
/** What was programmed. */
export type DevicesArtifact = { job_id?: string; name: string; pack_id?: string; sha256: string; size_bytes: number };
/** A device of the organisation. */
export type DevicesDevice = { board: string; capabilities: Readonly<Record<string, boolean | number | null>>; created_at: string; firmware_version: string; id: string; last_active_at: string | null; lease: { expires_at: string; holder: string } | null; making_safe_obstacle: string | null; making_safe_since: string | null; missing_parts: readonly ({ part: string; reason: string })[]; name: string; online: boolean; parameters: Readonly<Record<string, string>>; serial: string; state: "online" | "offline" | "updating" | "quarantined" | "degraded"; transport: "usb" | "tcp" | "dial" | "sim" | "parts" };
export type DevicesDevices = { devices: readonly (DevicesDevice)[] };
/** How a flash ended, for who waited for it. */
export type DevicesEnded = { artifact: DevicesArtifact; bytes: number; chip: string | null; code?: "ambiguous_target" | "attach_failed" | "bad_firmware" | "cancelled" | "deadline" | "device_lost" | "device_offline" | "device_timeout" | "erase_failed" | "internal" | "lease_lost" | "no_target" | "outside_memory" | "pod_protocol" | "pod_refused" | "probe_failed" | "program_failed" | "read_failed" | "reset_failed" | "stopped" | "target_locked" | "target_lost" | "unknown_target" | "verify_failed" | "wrong_target"; duration_ms: number; error?: string; id: string; ok: boolean; output: string; ranges: readonly (DevicesRange)[]; skipped: readonly (DevicesSkipped)[]; target_unreachable: boolean };
/** Sectors. */
export type DevicesErased = { address: number; bytes: number };
/** What a pod runs. */
export type DevicesFirmware = { board: string; gateware?: number; version: string };
/** A flash. What it ended with is there once it has. */
export type DevicesFlash = { artifact: DevicesArtifact; bytes?: number; chip?: string | null; code?: "ambiguous_target" | "attach_failed" | "bad_firmware" | "cancelled" | "deadline" | "device_lost" | "device_offline" | "device_timeout" | "erase_failed" | "internal" | "lease_lost" | "no_target" | "outside_memory" | "pod_protocol" | "pod_refused" | "probe_failed" | "program_failed" | "read_failed" | "reset_failed" | "stopped" | "target_locked" | "target_lost" | "unknown_target" | "verify_failed" | "wrong_target"; created_at: string; device_id: string; duration_ms?: number; error?: string; finished_at: string | null; id: string; ok?: boolean; output?: string; percent: number; phase: "preparing" | "connecting" | "erasing" | "programming" | "verifying" | "resetting" | "done" | "failed" | "cancelled"; phase_bytes: number; phase_total_bytes: number; ranges?: readonly (DevicesRange)[]; skipped?: readonly (DevicesSkipped)[]; target: string; target_unreachable?: boolean };
export type DevicesFlashes = { flashes: readonly (DevicesFlash)[] };
/** What a firmware file holds. */
export type DevicesInfo = { bytes: number; format: "elf" | "hex" | "bin" | "uf2"; parts: readonly (DevicesPart)[]; target: DevicesTarget | null };
/** Members of the answers of all endpoints that end a lease. */
export type DevicesLeaseEnd = { expires_at?: string | null; holder?: string | null; released: boolean; safe?: boolean };
/** The data for one family of chips. */
export type DevicesPart = { bytes: number; family: string | null; ranges: readonly (DevicesRange)[] };
/** The lease of a person. */
export type DevicesPersonsLease = { expires_at: string; holder: string };
/** What one rail gave: columns of equal length. */
export type DevicesRailTelemetry = { at_ms: readonly (number)[]; mv: readonly (number)[]; rail: number; ua: readonly (number)[]; ua_max: readonly (number)[] };
/** Where bytes of firmware are. */
export type DevicesRange = { address: number; bytes: number; crc32: string };
/** A device that was registered. */
export type DevicesRegisteredDevice = { board: string; capabilities: Readonly<Record<string, boolean | number | null>>; created_at: string; firmware_version: string; id: string; last_active_at: string | null; lease: { expires_at: string; holder: string } | null; making_safe_obstacle: string | null; making_safe_since: string | null; missing_parts: readonly ({ part: string; reason: string })[]; name: string; online: boolean; organization_id: string; owner_user_id: string; parameters: Readonly<Record<string, string>>; serial: string; state: "online" | "offline" | "updating" | "quarantined" | "degraded"; transport: "usb" | "tcp" | "dial" | "sim" | "parts" };
/** Data that is for other chips. */
export type DevicesSkipped = { bytes: number; family: string };
/** What flashing would do to a chip. */
export type DevicesTarget = { bytes: number; chip: string; erased: readonly (DevicesErased)[]; ranges: readonly (DevicesRange)[]; skipped: readonly (DevicesSkipped)[] };
/** What the rails of a target gave. */
export type DevicesTelemetry = { interval_ms: number; rails: readonly (DevicesRailTelemetry)[] };
/** The wiring of a device. */
export type DevicesWiring = { defaults: Readonly<Record<string, unknown>>; profile: Readonly<Record<string, unknown>>; stored: boolean; warnings: readonly (string)[] };
/** A file that a run made. */
export type EmiArtifact = { content_type: string; created_at: string; name: string; sha256: string; size_bytes: number };
/** Files of a run. */
export type EmiArtifacts = { artifacts: readonly (EmiArtifact)[] };
/** A board. What it is made of is known once its first run is done. */
export type EmiBoard = { content_sha256: string; created_at: string; id: string; ingest_run_id: string; layer_count: number; net_count: number; outline_mm: readonly (number)[] | null; project_id: string; size_bytes: number; stackup: readonly (EmiSheet)[] | null };
/** A page of boards. */
export type EmiBoards = { boards: readonly (EmiBoard)[]; next?: string };
/** A finding that one of the boards has. */
export type EmiChange = { assumed: readonly (string)[]; at: EmiPlace; bbox?: readonly (number)[]; certain: boolean; detail: string; fingerprint: string; id: string; layer: string; limit?: number; net: string; rule: string; severity: "critical" | "warning" | "info"; title: string; unit?: string; value?: number; x: number; y: number };
/** A rule of which not everything is listed. */
export type EmiCut = { found_before: number; found_now: number; listed_before: number; listed_now: number; rule: string };
/** The findings of two boards. */
export type EmiDiff = { cut: readonly (EmiCut)[]; gone: readonly (EmiChange)[]; kept: readonly (EmiKept)[]; new: readonly (EmiChange)[]; notes: readonly (string)[]; summary: EmiDiffSummary };
/** How much changed. */
export type EmiDiffSummary = { gone: EmiPerSeverity; kept: EmiPerSeverity; new: EmiPerSeverity; perhaps_gone: EmiPerSeverity; perhaps_new: EmiPerSeverity; worse: EmiPerSeverity };
/** What is offered. */
export type EmiFeatures = { kinds: readonly ("ingest" | "compliance" | "cable" | "solve")[]; upload_bytes_max: number };
/** Something that makes a board radiate, or sensitive. */
export type EmiFinding = { assumed: readonly (string)[]; at: EmiPlace; bbox?: readonly (number)[]; detail: string; fingerprint: string; id: string; layer: string; limit?: number; net: string; rule: string; severity: "critical" | "warning" | "info"; title: string; unit?: string; value?: number; x: number; y: number };
/** A page of findings. */
export type EmiFindings = { findings: readonly (EmiFinding)[]; next: string | null };
/** A finding that both boards have. */
export type EmiKept = { assumed: readonly (string)[]; at: EmiPlace; bbox?: readonly (number)[]; detail: string; fingerprint: string; id: string; layer: string; limit?: number; net: string; rule: string; severity: "critical" | "warning" | "info"; title: string; unit?: string; value?: number; was?: string; x: number; y: number };
/** Where a file is. */
export type EmiLink = { content_type: string; expires_in: number; name: string; size_bytes: number; url: string };
/** Who answers. */
export type EmiLocalStatus = { version: string; worker: EmiWorker };
/** Whether there is such a board. */
export type EmiLookup = { board?: EmiBoard; found: boolean; parsed?: boolean; project?: EmiProject };
/** A board that was made. */
export type EmiMade = { board: EmiBoard; run: EmiRun };
/** An object with keys of `emi.rules.yaml`. */
export type EmiParams = Readonly<Record<string, unknown>>;
/** How many of each severity. */
export type EmiPerSeverity = { critical: number; info: number; warning: number };
/** A place in the coordinates of the source file. */
export type EmiPlace = { footprint?: string; layer: string; line?: number; x: number; y: number };
/** How far it is. */
export type EmiProgress = { message: string; pct: number; stage: string };
/** A project. */
export type EmiProject = { created_at: string; created_by: string; id: string; name: string; organization_id: string; source_kind: "kicad" | "gerber" };
/** A page of projects. */
export type EmiProjects = { next?: string; projects: readonly (EmiProject)[] };
/** Bytes that have arrived. */
export type EmiReceived = { key: string; sha256: string; size_bytes: number };
/** A rule. */
export type EmiRule = { about: string; assumes: readonly (string)[]; formula: string; id: string; params: readonly (EmiSetting)[]; severity: string; source: string; title: string; validity: string };
/** All rules. */
export type EmiRules = { rules: readonly (EmiRule)[] };
/** A run. */
export type EmiRun = { board_id: string; created_at: string; error: string | null; finished_at: string | null; id: string; kind: "ingest" | "compliance" | "cable" | "solve"; params: EmiParams; progress: EmiProgress; project_id: string; started_at: string | null; status: "new" | "retry_pending" | "in_progress" | "stopping" | "done" | "failed" | "timed_out"; summary: EmiSummary | null; updated_at: string };
/** A page of runs. */
export type EmiRuns = { next?: string; runs: readonly (EmiRun)[] };
/** Something that can be set. */
export type EmiSetting = { about: string; default: number; key: string };
/** A layer of copper, or what is between two. */
export type EmiSheet = { epsilon_r?: number; kind: "copper" | "dielectric"; name?: string; thickness_mm: number | null };
/** What becomes of a run. */
export type EmiStopping = { status: "stopping" };
/** Findings by severity, with those that are not listed; a run that compares with limits adds what it knows of them. */
export type EmiSummary = { assumed_max_frequency_hz?: number; complete?: boolean; critical?: number; info?: number; warning?: number };
/** Where the bytes of a board go. */
export type EmiUpload = { already_uploaded: boolean; content_type: string; expires_in: number; key: string; method: string; upload_url?: string };
/** What analyses boards. */
export type EmiWorker = { message: string; state: "running" };
/** The sources that came with a job. */
export type JobsArchive = { ci_yaml: string; entries: number; sha256: string; size_bytes: number; unpacked_bytes: number };
/** A file that a run made. */
export type JobsArtifact = { created_at: string; name: string; run: string; sha256: string; size_bytes: number };
/** Files of a job. */
export type JobsArtifacts = { artifacts: readonly (JobsArtifact)[] };
/** One attempt at a run. */
export type JobsAttempt = { assigned_at: string; code: string | null; device: string | null; ended_at: string | null; log_bytes: number; message: string; number: number; outcome: "waiting" | "running" | "passed" | "failed" | "broken" | "cancelled" | "timed_out" | "skipped"; run: string; started_at: string | null };
/** What stands between a run and a device. */
export type JobsBlocked = { detail: string | null; device: string; obstacle: "misfit" | "quarantined" | "offline" | "busy" | "held" | "free"; until: string | null };
/** A run of a build. */
export type JobsBuild = { id: string; status: "waiting" | "running" | "passed" | "failed" | "broken" | "cancelled" | "timed_out" | "skipped"; targets: readonly (string)[] };
/** How a case went on a device. */
export type JobsCaseDevice = { broken: number; device: string; failed: number; name: string | null; passed: number };
/** How cases went. */
export type JobsCaseHistories = { all: number; cases: readonly (JobsCaseHistory)[]; is_cut: boolean };
/** How a case went. */
export type JobsCaseHistory = { broken: number; devices: readonly (JobsCaseDevice)[]; failed: number; first_bad: JobsCaseJob | null; flaky_rate: number | null; name: string | null; passed: number; run: string; runs: readonly (JobsCaseRun)[]; skipped: number };
/** A job. */
export type JobsCaseJob = { commit: string | null; job: string; name: string | null; ref: string | null };
/** One run of a case. */
export type JobsCaseRun = { commit: string | null; created_at: string; device: string | null; job: string; outcome: "passed" | "failed" | "broken" | "skipped" };
/** What may keep a job from running. */
export type JobsCheckWarning = { code: "no_isolation" | "no_matching_device" | "no_device_now"; message: string; run: string | null };
/** What a pipeline comes to. */
export type JobsChecked = { name: string | null; runs: readonly (JobsCheckedRun)[]; secrets: readonly (string)[]; warnings: readonly (JobsCheckWarning)[] };
/** A run that a pipeline comes to. */
export type JobsCheckedRun = { device: JobsWantedDevice | null; id: string; is_bench: boolean; needs: readonly (string)[]; targets: readonly (string)[] };
/** A job. */
export type JobsJob = { archive: JobsArchive | null; attempts?: readonly (JobsAttempt)[]; captures?: readonly (JobsJobCapture)[]; commit: string | null; created_at: string; ended_because: "completed" | "cancelled" | "queue_timeout" | "timeout" | "device_lost" | "no_matching_device" | "definition_error" | "infra_error" | null; finished_at: string | null; id: string; measurements?: readonly (JobsMeasurement)[]; message: string; name: string | null; ref: string | null; retry_of: string | null; runs?: readonly (JobsRun)[]; started_at: string | null; state: "queued" | "assigned" | "running" | "stopping" | "finished"; status: "new" | "in_progress" | "stopping" | "done" | "failed" | "timed_out"; user: string; verdict: "pending" | "success" | "failure" };
/** A capture that a job made. */
export type JobsJobCapture = { attempt: number; file: string; id: string; is_done: boolean; name: string; run: string; step: string | null };
/** A page of jobs. */
export type JobsJobs = { jobs: readonly (JobsJob)[]; next_cursor?: string };
/** Something that a job measured. */
export type JobsMeasurement = { at: string; attempt: number; device?: string; device_name?: string; high?: number; is_within: boolean; job: string; low?: number; name: string; ref?: string; run: string; serial?: string; step: string; unit: string; value: number };
/** What all values of one name and unit come to; docs/jobs.md has the formulas. */
export type JobsMeasurementSummary = { count: number; cp?: number; cpk?: number; deviation?: number; high?: number; low?: number; max: number; mean: number; min: number; name: string; trend?: number; unit: string };
/** A page of measurements. */
export type JobsMeasurements = { forgotten: number; has_more_names: boolean; measurements: readonly (JobsMeasurement)[]; names: readonly (JobsMeasurementSummary)[]; next_cursor?: string };
/** One run of a build or of a bench. */
export type JobsRun = { attempts: number; code: string | null; id: string; is_bench: boolean; message: string; needs: readonly (string)[]; outcome: "waiting" | "running" | "passed" | "failed" | "broken" | "cancelled" | "timed_out" | "skipped"; targets: readonly (string)[] };
/** Where the sources come from. */
export type JobsSourceMetadata = { archive: JobsArchive | null; commit: string | null; name: string | null; ref: string | null };
/** A job that was queued. */
export type JobsSubmitted = { builds: readonly (JobsBuild)[]; id: string; source_metadata: JobsSourceMetadata; status: "new" | "in_progress" | "stopping" | "done" | "failed" | "timed_out" };
/** Refs that an organisation trusts. */
export type JobsTrustedRefs = { refs: readonly (string)[] };
/** What a run asks of its device. */
export type JobsWantedDevice = { name: string | null; select: Readonly<Record<string, string>> };
/** A job, explained. */
export type JobsWhy = { job: JobsJob; runs: readonly (JobsWhyRun)[] };
/** A run, explained. */
export type JobsWhyRun = { ahead: number | null; devices: readonly (JobsBlocked)[]; message: string; run: string; until: string | null };
/** What a plugin may do in an organisation. */
export type PluginsGrant = { devices: readonly (string)[] | null; missing: readonly (string)[]; org: string };
/** Lines of a plugin's log. */
export type PluginsLines = { lines: readonly (PluginsLogLine)[]; next: number };
/** A line of a plugin's log. */
export type PluginsLogLine = { at: string; level: "debug" | "info" | "warn" | "error"; message: string; number: number; request_id: string };
/** What became of an order. */
export type PluginsNotes = { notes: readonly (string)[] };
/** A package that was not installed. */
export type PluginsPackage = { origin: string; reason: string };
/** A plugin of the server. */
export type PluginsPlugin = { grants: readonly (PluginsGrant)[]; id: string; previous?: string; reason?: string; routes: number; state: string; version: string; wants?: PluginsPluginWants };
/** What a version of a plugin asks for. The lists have what an approval may name, which grants it. */
export type PluginsPluginWants = { description: string | null; events: readonly (string)[]; homepage: string | null; http: readonly (string)[]; interfaces: readonly (string)[]; name: string | null; public: boolean; scopes: readonly (string)[]; secrets: readonly (string)[]; store_mib: number; timers: readonly (PluginsWantedTimer)[]; version: string };
/** Plugins of the server. */
export type PluginsPlugins = { plugins: readonly (PluginsPlugin)[]; refused: readonly (PluginsPackage)[] };
/** A timer of a plugin. */
export type PluginsWantedTimer = { cron: string; id: string };
/** A secret, without its value. */
export type SecretsSecret = { created_at: string; created_by: string; name: string; refs: readonly (string)[]; state: "ready" | "no_key" | "other_key" | "damaged"; updated_at: string; updated_by: string };
/** Secrets of an organisation. */
export type SecretsSecrets = { secrets: readonly (SecretsSecret)[] };
/** The record of an update as an answer. */
export type UpdatesUpdate = { bytes: number; created_at?: string; error?: string; finished_at?: string; id: string | null; percent: number; phase: "idle" | "transferring" | "verifying" | "staged" | "installing" | "rebooting" | "done" | "failed" | "aborted"; sha256?: string; signature?: string; total_bytes: number; version_after?: string; version_before?: string };
export type WaveformsPreview = { averaged: number; codes: readonly (number)[]; dac_path: "3v3" | "5v" | "12v" | "current_out"; high: number; id: string; low: number; mapping: "faithful" | "fit"; sample_rate_hz: number; samples: number; unit: "V" | "mA" };
export type WaveformsSegment = { duration_ms: number; shape: "ramp" | "hold" | "step"; v_end: number; v_start: number };
/** What plays, or will. */
export type WaveformsStarted = { averaged: number; cotrig: boolean; dac_path: "3v3" | "5v" | "12v" | "current_out"; deep: boolean; device_id: string; mapping: "faithful" | "fit"; sample_rate_hz: number; samples: number; source_samples: number; speed?: number; status: "playing" | "armed"; warnings?: readonly (string)[]; waveform_id?: string };
/** A waveform that is kept. */
export type WaveformsWaveform = { bits: 8 | 16; created_at: string; dac_path: "3v3" | "5v" | "12v" | "current_out" | ""; full_scale_v: number; id: string; kind: "dac_waveform" | "recording" | "segments"; name: string; recording_size_bytes: number; sample_count: number; sample_rate_hz: number; samples_b64?: string; segments: readonly (WaveformsSegment)[]; unit: "V" | "mA" };
export type WaveformsWaveforms = { next_cursor?: string; waveforms: readonly (WaveformsWaveform)[] };
/** The last messages to a webhook. */
export type WebhooksDeliveries = { deliveries: readonly (WebhooksDelivery)[] };
/** A message to a webhook, and what became of it. */
export type WebhooksDelivery = { attempts: number; created_at: string; error: string | null; event: string; id: string; job: string | null; next_at: string | null; phase: "waiting" | "delivered" | "failed" | "dropped"; status: number | null; tried_at: string | null };
/** A webhook with its new secret. */
export type WebhooksNewRecord = { created_at: string; disabled_because: string | null; enabled: boolean; events: readonly (string)[]; failing_since: string | null; failures: number; id: string; name: string | null; ref: string | null; secret: string; url: string; user: string };
/** A webhook, without its secret. */
export type WebhooksRecord = { created_at: string; disabled_because: string | null; enabled: boolean; events: readonly (string)[]; failing_since: string | null; failures: number; id: string; name: string | null; ref: string | null; url: string; user: string };
/** The webhooks of an organisation. */
export type WebhooksWebhooks = { webhooks: readonly (WebhooksRecord)[] };

/** Every endpoint: what it takes and what it answers. */
export interface Operations {
  /** Start an I²C analyzer capture */
  "POST /analyzer/captures/start": { path: {}; query: {}; body: { device_id: string; name?: string | null; pre_samples?: number | null; sample_rate_mhz: number; samples: number; scl: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; sda: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; trigger?: { address?: number | string | null; baudrate?: number | null; bytes?: string | null; channel?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; direction?: "read" | "write" | null; edge?: "rising" | "falling" | "high" | "low" | null; level?: { channel: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; for_ns: number; level: "high" | "low" } | null; parity?: "none" | "odd" | "even" | null; pattern?: readonly ({ channel: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; level: "high" | "low" })[] | null; protocol?: "i2c" | "uart" | null; pulse?: { channel: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; level: "high" | "low"; longer_than_ns?: number | null; shorter_than_ns?: number | null } | null; rx?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; scl?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; sda?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; timeout_ms?: number | null } | null; voltage_mv?: 1800 | 3300 | null }; answer: CapturesStarted };
  /** Renew a session */
  "POST /auth/guest/refresh": { path: {}; query: {}; body: { refresh_token: string }; answer: AuthRenewed };
  /** Set your own password */
  "PUT /auth/password": { path: {}; query: {}; body: { new: string; old?: string | null }; answer: AuthSession };
  /** Show what the credential stands for */
  "GET /auth/session": { path: {}; query: {}; body: undefined; answer: AuthIdentity };
  /** Sign in with a password or a one-time code */
  "POST /auth/session": { path: {}; query: {}; body: { keep?: boolean | null; login: string; password: string; remember?: boolean | null } | { code: string; keep?: boolean | null; remember?: boolean | null }; answer: AuthSession };
  /** Sign out, or end a session token */
  "DELETE /auth/session": { path: {}; query: {}; body: undefined; answer: undefined };
  /** The page on which people sign in */
  "GET /auth/sign-in": { path: {}; query: { to?: string }; body: undefined; answer: undefined };
  /** Sign in by the form of the page */
  "POST /auth/sign-in": { path: {}; query: {}; body: undefined; answer: undefined };
  /** Sign out by the form of a page */
  "POST /auth/sign-out": { path: {}; query: {}; body: undefined; answer: undefined };
  /** Exchange a key or session for a cloud-session token */
  "POST /auth/token": { path: {}; query: {}; body: { devices?: readonly (string)[] | null; ttl_seconds?: number | null }; answer: AuthToken };
  /** List badges */
  "GET /badges": { path: {}; query: {}; body: undefined; answer: BadgesBadges };
  /** Make a badge */
  "POST /badges": { path: {}; query: {}; body: { label?: string | null; name: string; ref?: string | null }; answer: BadgesBadge };
  /** Remove a badge */
  "DELETE /badges/{id}": { path: { id: string }; query: {}; body: undefined; answer: undefined };
  /** The picture of a badge */
  "GET /badges/{id}/badge.svg": { path: { id: string }; query: {}; body: undefined; answer: undefined };
  /** Find a file of a build */
  "GET /bench/builds/artifact": { path: {}; query: { build?: string; repo?: string; ref?: string; artifact?: string }; body: undefined; answer: BuildsFound };
  /** Download a file of a build */
  "GET /bench/builds/{job}/packs/{pack}/artifacts/{name}": { path: { job: string; pack: string; name: string }; query: {}; body: undefined; answer: undefined };
  /** List devices */
  "GET /bench/devices": { path: {}; query: { text?: string; online?: boolean }; body: undefined; answer: DevicesDevices };
  /** Register a pod that dials in */
  "POST /bench/devices": { path: {}; query: {}; body: { name: string; parameters?: Readonly<Record<string, unknown>> | null; public_key: string }; answer: DevicesRegisteredDevice };
  /** Admit a device again that was removed or is in quarantine */
  "POST /bench/devices/admit": { path: {}; query: {}; body: { device: string }; answer: DevicesDevice };
  /** One device */
  "GET /bench/devices/{id}": { path: { id: string }; query: {}; body: undefined; answer: DevicesDevice };
  /** Rename a device or change its wiring */
  "PATCH /bench/devices/{id}": { path: { id: string }; query: {}; body: { name?: string | null; wiring?: { efuse?: 1 | 2; i2c_addr?: string | number; i2c_scl?: number | null; i2c_sda?: number | null; la_mv?: 1800 | 3300; signals?: readonly ({ active_low?: boolean; description?: string; direction?: "input" | "output" | "open_drain" | "bidir"; la: number; name: string })[]; spi_cs?: number | null; spi_miso?: number | null; spi_mosi?: number | null; spi_sclk?: number | null; swd_nreset?: boolean; swd_swclk?: number | null; swd_swdio?: number | null; swd_target?: string; uart_baud?: number; uart_rx?: number | null; uart_tx?: number | null; version?: 1 } | null }; answer: DevicesDevice };
  /** Remove a device */
  "DELETE /bench/devices/{id}": { path: { id: string }; query: {}; body: { holder?: string | null; override?: boolean | null }; answer: undefined };
  /** Run one pod command */
  "POST /bench/devices/{id}/command": { path: { id: string }; query: {}; body: { command: { cmd: string }; timeout_ms?: number | null }; answer: DevicesAnswer };
  /** Firmware of the pod */
  "GET /bench/devices/{id}/firmware": { path: { id: string }; query: {}; body: undefined; answer: DevicesFirmware };
  /** Last flashes of a device */
  "GET /bench/devices/{id}/flash": { path: { id: string }; query: {}; body: undefined; answer: DevicesFlashes };
  /** Flash the target */
  "POST /bench/devices/{id}/flash": { path: { id: string }; query: {}; body: { artifact?: string | null; artifact_name?: string | null; build?: string | null; connect_under_reset?: boolean | null; efuse?: number | null; force?: boolean | null; job_id?: string | null; load_addr?: string | number | null; nreset?: boolean | null; pack_id?: string | null; ref?: string | null; repo?: string | null; reset?: boolean | null; swclk?: number | null; swdio?: number | null; target?: string | null; verify?: boolean | null }; answer: DevicesEnded | DevicesFlash };
  /** One flash */
  "GET /bench/devices/{id}/flash/{flash_id}": { path: { id: string; flash_id: string }; query: {}; body: undefined; answer: DevicesFlash };
  /** Cancel a flash */
  "POST /bench/devices/{id}/flash/{flash_id}/cancel": { path: { id: string; flash_id: string }; query: {}; body: undefined; answer: DevicesFlash };
  /** List firmware that can be flashed */
  "GET /bench/devices/{id}/flashable-artifacts": { path: { id: string }; query: { limit?: number }; body: undefined; answer: BuildsArtifacts };
  /** Take a device, or keep it, as who is signed in */
  "POST /bench/devices/{id}/lease": { path: { id: string }; query: {}; body: { override?: boolean | null; queue?: boolean | null; ttl_seconds?: number | null }; answer: DevicesPersonsLease };
  /** Give a device back, or end somebody's lease */
  "DELETE /bench/devices/{id}/lease": { path: { id: string }; query: { holder?: string }; body: undefined; answer: DevicesLeaseEnd };
  /** Progress of the update of a pod */
  "GET /bench/devices/{id}/ota": { path: { id: string }; query: {}; body: undefined; answer: UpdatesUpdate };
  /** Update the firmware of a pod */
  "POST /bench/devices/{id}/ota": { path: { id: string }; query: {}; body: { artifact: { artifact?: string | null; artifact_name?: string | null; build?: string | null; job_id?: string | null; pack_id?: string | null; ref?: string | null; repo?: string | null }; sha256?: string | null; signature?: string | null; version?: string | null }; answer: UpdatesUpdate };
  /** Give the update of a pod up */
  "POST /bench/devices/{id}/ota/abort": { path: { id: string }; query: {}; body: undefined; answer: UpdatesUpdate };
  /** What the rails gave in the last hour */
  "GET /bench/devices/{id}/telemetry": { path: { id: string }; query: { from?: number; points?: number }; body: undefined; answer: DevicesTelemetry };
  /** Live UART of a device */
  "GET /bench/devices/{id}/uart/ws": { path: { id: string }; query: { rx?: number; tx?: number; baud?: number; after?: number; token?: string; lease?: string }; body: undefined; answer: undefined };
  /** Store the wiring profile of a device */
  "PUT /bench/devices/{id}/wiring": { path: { id: string }; query: {}; body: { efuse?: 1 | 2; i2c_addr?: string | number; i2c_scl?: number | null; i2c_sda?: number | null; la_mv?: 1800 | 3300; signals?: readonly ({ active_low?: boolean; description?: string; direction?: "input" | "output" | "open_drain" | "bidir"; la: number; name: string })[]; spi_cs?: number | null; spi_miso?: number | null; spi_mosi?: number | null; spi_sclk?: number | null; swd_nreset?: boolean; swd_swclk?: number | null; swd_swdio?: number | null; swd_target?: string; uart_baud?: number; uart_rx?: number | null; uart_tx?: number | null; version?: 1 }; answer: DevicesWiring };
  /** Wiring profile of a device */
  "GET /bench/devices/{id}/wiring/profile": { path: { id: string }; query: {}; body: undefined; answer: DevicesWiring };
  /** Look at a firmware file */
  "POST /bench/firmware/info": { path: {}; query: {}; body: undefined; answer: DevicesInfo };
  /** List waveforms, newest first */
  "GET /bench/waveforms": { path: {}; query: { cursor?: string; limit?: number }; body: undefined; answer: WaveformsWaveforms };
  /** Keep a waveform of DAC codes */
  "POST /bench/waveforms": { path: {}; query: {}; body: { bits?: 8 | 16 | null; full_scale_v?: number | null; name: string; sample_rate_hz: number; samples_b64: string }; answer: WaveformsWaveform };
  /** Keep a recording */
  "POST /bench/waveforms/recording": { path: {}; query: { name: string; sample_rate_hz: number; full_scale_v: number; unit?: "V" | "mA"; sample_count?: number }; body: undefined; answer: WaveformsWaveform };
  /** Keep a waveform of segments */
  "POST /bench/waveforms/segments": { path: {}; query: {}; body: { dac_path: "3v3" | "5v" | "12v" | "current_out"; name: string; segments: readonly ({ duration_ms: number; shape: "ramp" | "hold" | "step"; v_end?: number | null; v_start: number })[] }; answer: WaveformsWaveform };
  /** One waveform */
  "GET /bench/waveforms/{id}": { path: { id: string }; query: {}; body: undefined; answer: WaveformsWaveform };
  /** Rename a waveform */
  "PATCH /bench/waveforms/{id}": { path: { id: string }; query: {}; body: { name: string }; answer: WaveformsWaveform };
  /** Delete a waveform */
  "DELETE /bench/waveforms/{id}": { path: { id: string }; query: {}; body: undefined; answer: undefined };
  /** Previewed a waveform on an output */
  "GET /bench/waveforms/{id}/preview": { path: { id: string }; query: { mapping?: "faithful" | "fit"; dac_path?: "3v3" | "5v" | "12v" | "current_out"; points?: number }; body: undefined; answer: WaveformsPreview };
  /** Download the samples of a recording */
  "GET /bench/waveforms/{id}/recording": { path: { id: string }; query: {}; body: undefined; answer: undefined };
  /** Start a simultaneous ADC and logic-analyzer capture */
  "POST /capture/start": { path: {}; query: {}; body: { adc_rate_mhz: number; adc_samples: number; device_id: string; la_rate_mhz: number; la_samples: number; name?: string | null; pre_samples?: number | null; trigger?: { address?: number | string | null; baudrate?: number | null; bytes?: string | null; channel?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; direction?: "read" | "write" | null; edge?: "rising" | "falling" | "high" | "low" | null; level?: { channel: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; for_ns: number; level: "high" | "low" } | null; parity?: "none" | "odd" | "even" | null; pattern?: readonly ({ channel: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; level: "high" | "low" })[] | null; protocol?: "i2c" | "uart" | null; pulse?: { channel: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; level: "high" | "low"; longer_than_ns?: number | null; shorter_than_ns?: number | null } | null; rx?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; scl?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; sda?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; timeout_ms?: number | null } | null }; answer: CapturesStarted };
  /** A capture with its frames */
  "GET /capture/{id}": { path: { id: string }; query: { from_seq?: number; max_bytes?: number; frames?: "all" | "none" }; body: undefined; answer: CapturesCaptureWithFrames };
  /** Name, label, mark or pin a capture */
  "PATCH /capture/{id}": { path: { id: string }; query: {}; body: { channels?: readonly ({ id: number; label: string })[] | null; markers?: readonly ({ channel?: number | null; note: string; sample: number })[] | null; name?: string | null; pinned?: boolean | null }; answer: CapturesCaptureInFull };
  /** Delete a capture */
  "DELETE /capture/{id}": { path: { id: string }; query: {}; body: undefined; answer: undefined };
  /** Judge a capture by rules */
  "POST /capture/{id}/assert": { path: { id: string }; query: {}; body: { rules?: Readonly<Record<string, unknown>> | null; rules_yaml?: string | null }; answer: CapturesAssertions };
  /** Cancel a capture */
  "POST /capture/{id}/cancel": { path: { id: string }; query: {}; body: undefined; answer: CapturesCapture };
  /** Decode a capture's protocol */
  "GET /capture/{id}/decode": { path: { id: string }; query: { protocol: string; engine?: "hostd" | "sigrok"; format?: "json" | "sigrok" | "csv"; annotations?: string; from?: number; to?: number; limit?: number; glitch?: number; threshold?: number; hysteresis?: number; summary?: number; scl?: string; sda?: string; rx?: string; tx?: string; clk?: string; mosi?: string; miso?: string; cs?: string; options?: Readonly<Record<string, string>> }; body: undefined; answer: CapturesDecodeSummary };
  /** Find an edge in a capture */
  "GET /capture/{id}/edges": { path: { id: string }; query: { channel: string; at: number; direction?: "next" | "previous"; edge?: "rising" | "falling" | "either" }; body: undefined; answer: CapturesEdgeFound };
  /** A capture as a file */
  "GET /capture/{id}/export": { path: { id: string }; query: { format: "vcd" | "fst" | "sr" | "csv" | "wav" | "bin" | "arrow" | "parquet"; content?: "logic" | "analog" | "both"; channels?: string; from?: number; to?: number }; body: undefined; answer: undefined };
  /** A capture as a file, by its address */
  "GET /capture/{id}/file/{name}": { path: { id: string; name: string }; query: { link: string }; body: undefined; answer: undefined };
  /** An address of a capture as a file */
  "POST /capture/{id}/link": { path: { id: string }; query: {}; body: { channels?: string | null; content?: "logic" | "analog" | "both" | null; format: "vcd" | "fst" | "sr" | "csv" | "wav" | "bin" | "arrow" | "parquet"; from?: number | null; to?: number | null; ttl_seconds?: number | null }; answer: CapturesCaptureLink };
  /** Measure a channel of a capture */
  "GET /capture/{id}/measure": { path: { id: string }; query: { channel: string; from?: number; to?: number }; body: undefined; answer: CapturesMeasured };
  /** A channel of a capture from afar */
  "GET /capture/{id}/overview": { path: { id: string }; query: { channel: string; from?: number; to?: number; points?: number }; body: undefined; answer: CapturesOverview };
  /** Search in a capture */
  "GET /capture/{id}/search": { path: { id: string }; query: { q: string; from?: number; to?: number; skip?: number; limit?: number }; body: undefined; answer: CapturesCaptureSearch };
  /** Spectrum of an analog channel of a capture */
  "GET /capture/{id}/spectrum": { path: { id: string }; query: { channel: string; from?: number; to?: number; window?: "rectangular" | "hann" | "hamming" | "blackman-harris" | "flattop"; points?: number }; body: undefined; answer: CapturesSpectrum };
  /** Channels of a capture in aligned stretches */
  "GET /capture/{id}/tiles": { path: { id: string }; query: { level: number; index: number; tiles?: number; channels?: string }; body: undefined; answer: CapturesTiles };
  /** List captures */
  "GET /captures": { path: {}; query: { device_id?: string; job_id?: string; text?: string; kind?: "scope" | "logic" | "i2c" | "dual" | "measure"; status?: "pending" | "armed" | "running" | "done" | "failed" | "timed_out" | "cancelled"; pinned?: boolean; since?: string; sort?: "created" | "size" | "samples"; order?: "desc" | "asc"; cursor?: string; limit?: number }; body: undefined; answer: CapturesListed };
  /** Import a recording */
  "POST /captures/import": { path: {}; query: { name?: string; device_id?: string; rate?: number; channels?: string }; body: undefined; answer: CapturesImportedCapture };
  /** Search in many captures, newest first */
  "GET /captures/search": { path: {}; query: { q: string; device_id?: string; job_id?: string; cursor?: string; limit?: number; results?: number }; body: undefined; answer: CapturesCapturesSearch };
  /** Report a build */
  "POST /cloud/builds": { path: {}; query: {}; body: { actor?: string | null; event?: string | null; name?: string | null; ref?: string | null; repo?: string | null; repo_owner?: string | null; run_attempt?: string | null; run_id?: string | null; sha?: string | null; target?: string | null; wiring?: { efuse?: number | null; nreset?: boolean | null; swclk?: number | null; swdio?: number | null; target?: string | null } | null; workflow?: string | null }; answer: BuildsBuild };
  /** Add a file to a build */
  "POST /cloud/builds/{build}/artifacts": { path: { build: string }; query: { name: string; content_type?: string }; body: undefined; answer: BuildsAdded };
  /** Add a log to a build */
  "POST /cloud/builds/{build}/logs": { path: { build: string }; query: { name: string }; body: undefined; answer: BuildsAdded };
  /** Give a build its result */
  "POST /cloud/builds/{build}/status": { path: { build: string }; query: {}; body: { reason?: string | null; success: boolean; wiring?: { efuse?: number | null; nreset?: boolean | null; swclk?: number | null; swdio?: number | null; target?: string | null } | null }; answer: BuildsBuild };
  /** Run one pod command on a device by name */
  "POST /cloud/devices/command": { path: {}; query: { device?: string }; body: { cmd: string } | { command: { cmd: string }; timeout_ms?: number | null }; answer: CloudAnswer };
  /** Take a device */
  "POST /cloud/devices/lease": { path: {}; query: { device?: string }; body: { lease_id: string; override?: boolean | null; queue?: boolean | null; run_label?: string | null; ttl_seconds?: number | null }; answer: CloudHeld };
  /** Give a device back */
  "POST /cloud/devices/lease/release": { path: {}; query: { device?: string }; body: { holder?: string | null; lease_id?: string | null; override?: boolean | null; queue?: boolean | null; run_label?: string | null; ttl_seconds?: number | null }; answer: CloudEnded };
  /** Keep a device */
  "POST /cloud/devices/lease/renew": { path: {}; query: { device?: string }; body: { lease_id: string; override?: boolean | null; queue?: boolean | null; run_label?: string | null; ttl_seconds?: number | null }; answer: CloudHeld };
  /** Byte tunnel to a device */
  "GET /cloud/devices/ws": { path: {}; query: { device?: string; kind?: "uart" | "capture" | "dac" | "flash"; lease?: string; token?: string }; body: undefined; answer: undefined };
  /** Play a waveform on a DAC output */
  "POST /dac/replay/start": { path: {}; query: {}; body: unknown; answer: WaveformsStarted };
  /** List the protocol decoders */
  "GET /decoders": { path: {}; query: { engine?: "hostd" | "sigrok"; protocol?: string }; body: undefined; answer: CapturesListed2 };
  /** Look for a board by its bytes */
  "GET /emi/boards/lookup": { path: {}; query: { sha256: string }; body: undefined; answer: EmiLookup };
  /** One board */
  "GET /emi/boards/{id}": { path: { id: string }; query: {}; body: undefined; answer: EmiBoard };
  /** Remove a board with its runs */
  "DELETE /emi/boards/{id}": { path: { id: string }; query: {}; body: undefined; answer: undefined };
  /** Compare the findings of two boards */
  "GET /emi/boards/{id}/diff": { path: { id: string }; query: { against: string }; body: undefined; answer: EmiDiff };
  /** What this server offers for boards */
  "GET /emi/features": { path: {}; query: {}; body: undefined; answer: EmiFeatures };
  /** Download a file that a run made */
  "GET /emi/files/{org}/{run}/{name}": { path: { org: string; run: string; name: string }; query: { expires: number; signature: string }; body: undefined; answer: unknown };
  /** List projects, newest first */
  "GET /emi/projects": { path: {}; query: { cursor?: string; limit?: number }; body: undefined; answer: EmiProjects };
  /** Make a project for boards */
  "POST /emi/projects": { path: {}; query: {}; body: { name: string; source_kind?: "kicad" | "gerber" | null }; answer: EmiProject };
  /** One project */
  "GET /emi/projects/{id}": { path: { id: string }; query: {}; body: undefined; answer: EmiProject };
  /** Remove a project with its boards and runs */
  "DELETE /emi/projects/{id}": { path: { id: string }; query: {}; body: undefined; answer: undefined };
  /** List the boards of a project, newest first */
  "GET /emi/projects/{id}/boards": { path: { id: string }; query: { cursor?: string; limit?: number }; body: undefined; answer: EmiBoards };
  /** Make a board of an upload, and analyse it */
  "POST /emi/projects/{id}/boards": { path: { id: string }; query: {}; body: { input_key: string; sha256?: string | null }; answer: EmiMade };
  /** The newest report of a project, as a page */
  "GET /emi/projects/{id}/report": { path: { id: string }; query: {}; body: undefined; answer: undefined };
  /** List the runs of a project, newest first */
  "GET /emi/projects/{id}/runs": { path: { id: string }; query: { cursor?: string; limit?: number }; body: undefined; answer: EmiRuns };
  /** Analyse a board */
  "POST /emi/projects/{id}/runs": { path: { id: string }; query: {}; body: { board_id: string; kind: "ingest" | "compliance" | "cable" | "solve"; params?: Readonly<Record<string, unknown>> | null }; answer: EmiRun };
  /** Ask where to send a board */
  "POST /emi/projects/{id}/uploads": { path: { id: string }; query: {}; body: { content_type?: string | null; filename: string; sha256?: string | null; size_bytes?: number | null }; answer: EmiUpload };
  /** The rules that boards are looked through by */
  "GET /emi/rules": { path: {}; query: {}; body: undefined; answer: EmiRules };
  /** How a run stands */
  "GET /emi/runs/{id}": { path: { id: string }; query: {}; body: undefined; answer: EmiRun };
  /** List the files that a run made */
  "GET /emi/runs/{id}/artifacts": { path: { id: string }; query: {}; body: undefined; answer: EmiArtifacts };
  /** Ask for the address of a file that a run made */
  "GET /emi/runs/{id}/artifacts/{name}": { path: { id: string; name: string }; query: {}; body: undefined; answer: EmiLink };
  /** What a run found */
  "GET /emi/runs/{id}/findings": { path: { id: string }; query: { severity?: "critical" | "warning" | "info"; rule?: string; net?: string; cursor?: string; limit?: number }; body: undefined; answer: EmiFindings };
  /** Run a run once more */
  "POST /emi/runs/{id}/retry": { path: { id: string }; query: {}; body: undefined; answer: EmiRun };
  /** Stop a run */
  "POST /emi/runs/{id}/stop": { path: { id: string }; query: {}; body: undefined; answer: EmiStopping };
  /** Send a board */
  "PUT /emi/uploads/{key}": { path: { key: string }; query: { expires: number; signature: string }; body: undefined; answer: EmiReceived };
  /** What happens in the organisation, as it happens */
  "GET /events": { path: {}; query: { after?: string; seconds?: number }; body: undefined; answer: undefined };
  /** Exchange a CI run's id-token for a session token */
  "POST /github/oidc/token": { path: {}; query: {}; body: { token: string }; answer: AuthExchanged };
  /** List trust rules for CI */
  "GET /github/trust": { path: {}; query: {}; body: undefined; answer: AuthRules };
  /** Let CI runs of a repository in */
  "POST /github/trust": { path: {}; query: {}; body: { devices?: readonly (string)[] | null; environment?: string | null; ref?: string | null; repository: string; ttl_seconds?: number | null }; answer: AuthRule };
  /** Change a trust rule */
  "PATCH /github/trust/{id}": { path: { id: string }; query: {}; body: { devices?: readonly (string)[] | null; enabled?: boolean | null; ttl_seconds?: number | null }; answer: AuthRule };
  /** Remove a trust rule */
  "DELETE /github/trust/{id}": { path: { id: string }; query: {}; body: undefined; answer: undefined };
  /** List jobs, newest first */
  "GET /jobs": { path: {}; query: { state?: "queued" | "assigned" | "running" | "stopping" | "finished"; verdict?: "pending" | "success" | "failure"; name?: string; ref?: string; text?: string; since?: string; cursor?: string; limit?: number }; body: undefined; answer: JobsJobs };
  /** How test cases went in the last jobs */
  "GET /jobs/cases": { path: {}; query: { name?: string; ref?: string; since?: string; text?: string; limit?: number }; body: undefined; answer: JobsCaseHistories };
  /** Check a pipeline */
  "POST /jobs/check": { path: {}; query: {}; body: { definition: string; ref?: string | null }; answer: JobsChecked };
  /** The JSON Schema of pipelines */
  "GET /jobs/schema.json": { path: {}; query: {}; body: undefined; answer: undefined };
  /** Submit a job */
  "POST /jobs/submit": { path: {}; query: {}; body: { commit?: string | null; definition: string; name?: string | null; ref?: string | null }; answer: JobsSubmitted };
  /** List the trusted refs */
  "GET /jobs/trusted-refs": { path: {}; query: {}; body: undefined; answer: JobsTrustedRefs };
  /** Replace the trusted refs */
  "PUT /jobs/trusted-refs": { path: {}; query: {}; body: { refs: readonly (string)[] }; answer: JobsTrustedRefs };
  /** A job */
  "GET /jobs/{id}": { path: { id: string }; query: {}; body: undefined; answer: JobsJob };
  /** List the files that a job made */
  "GET /jobs/{id}/artifacts": { path: { id: string }; query: {}; body: undefined; answer: JobsArtifacts };
  /** Download a file that a job made */
  "GET /jobs/{id}/artifacts/{run}/{name}": { path: { id: string; run: string; name: string }; query: {}; body: undefined; answer: undefined };
  /** Cancel a job */
  "POST /jobs/{id}/cancel": { path: { id: string }; query: {}; body: undefined; answer: JobsJob };
  /** Download a capture that a job made */
  "GET /jobs/{id}/captures/{capture}": { path: { id: string; capture: string }; query: {}; body: undefined; answer: undefined };
  /** A job's cases as JUnit XML */
  "GET /jobs/{id}/junit.xml": { path: { id: string }; query: {}; body: undefined; answer: undefined };
  /** The log of a job */
  "GET /jobs/{id}/log": { path: { id: string }; query: { attempt?: number; offset?: number }; body: undefined; answer: undefined };
  /** A page about a job, for people */
  "GET /jobs/{id}/report": { path: { id: string }; query: {}; body: undefined; answer: undefined };
  /** Submit a finished job once more */
  "POST /jobs/{id}/retry": { path: { id: string }; query: {}; body: undefined; answer: JobsJob };
  /** The timeline of a job, for Perfetto */
  "GET /jobs/{id}/trace.json": { path: { id: string }; query: {}; body: undefined; answer: readonly (unknown)[] };
  /** Why a job does not run, or how it ended */
  "GET /jobs/{id}/why": { path: { id: string }; query: {}; body: undefined; answer: JobsWhy };
  /** Follow a job */
  "GET /jobs/{id}/ws": { path: { id: string }; query: { token?: string }; body: undefined; answer: undefined };
  /** List API keys */
  "GET /keys": { path: {}; query: {}; body: undefined; answer: AuthKeys };
  /** Create an API key */
  "POST /keys": { path: {}; query: {}; body: { name: string; scopes: readonly ("jobs:submit" | "bench:control" | "benchpod:control" | "emi:analyze" | "bench:admin" | "benchpod:admin")[]; ttl_seconds?: number | null }; answer: AuthNewKey };
  /** Rename an API key or change its scopes */
  "PATCH /keys/{kid}": { path: { kid: string }; query: {}; body: { name?: string | null; scopes?: readonly ("jobs:submit" | "bench:control" | "benchpod:control" | "emi:analyze" | "bench:admin" | "benchpod:admin")[] | null }; answer: AuthKey };
  /** Revoke an API key */
  "DELETE /keys/{kid}": { path: { kid: string }; query: {}; body: undefined; answer: undefined };
  /** Start a logic-analyzer capture */
  "POST /la/captures/start": { path: {}; query: {}; body: { channels?: readonly (number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14")[] | null; device_id: string; name?: string | null; pre_samples?: number | null; sample_rate_mhz: number; samples: number; trigger?: { address?: number | string | null; baudrate?: number | null; bytes?: string | null; channel?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; direction?: "read" | "write" | null; edge?: "rising" | "falling" | "high" | "low" | null; level?: { channel: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; for_ns: number; level: "high" | "low" } | null; parity?: "none" | "odd" | "even" | null; pattern?: readonly ({ channel: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; level: "high" | "low" })[] | null; protocol?: "i2c" | "uart" | null; pulse?: { channel: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; level: "high" | "low"; longer_than_ns?: number | null; shorter_than_ns?: number | null } | null; rx?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; scl?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; sda?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; timeout_ms?: number | null } | null; voltage_mv?: 1800 | 3300 | null }; answer: CapturesStarted };
  /** Whether boards are analysed here */
  "GET /local/status": { path: {}; query: {}; body: undefined; answer: EmiLocalStatus };
  /** List what jobs measured, the newest job's first */
  "GET /measurements": { path: {}; query: { name?: string; device?: string; serial?: string; job?: string; ref?: string; since?: string; cursor?: string; limit?: number }; body: undefined; answer: JobsMeasurements };
  /** List plugins */
  "GET /plugins": { path: {}; query: {}; body: undefined; answer: PluginsPlugins };
  /** Install a plugin */
  "POST /plugins": { path: {}; query: {}; body: undefined; answer: PluginsNotes };
  /** Look at a plugin */
  "GET /plugins/{id}": { path: { id: string }; query: {}; body: undefined; answer: PluginsPlugin };
  /** Remove a plugin */
  "DELETE /plugins/{id}": { path: { id: string }; query: { data?: boolean }; body: undefined; answer: PluginsNotes };
  /** Grant a plugin rights */
  "POST /plugins/{id}/approve": { path: { id: string }; query: {}; body: { all_devices?: boolean | null; devices?: readonly (string)[] | null; events?: readonly (string)[] | null; http?: readonly (string)[] | null; interfaces?: readonly (string)[] | null; org?: string | null; public?: boolean | null; scopes?: readonly (string)[] | null; secrets?: readonly (string)[] | null; store_mib?: number | null; timers?: readonly (string)[] | null }; answer: PluginsNotes };
  /** Configure a plugin */
  "POST /plugins/{id}/configure": { path: { id: string }; query: {}; body: { org?: string | null; values?: Readonly<Record<string, unknown>> | null }; answer: PluginsNotes };
  /** Stop serving a plugin */
  "POST /plugins/{id}/disable": { path: { id: string }; query: {}; body: undefined; answer: PluginsNotes };
  /** Serve a plugin again */
  "POST /plugins/{id}/enable": { path: { id: string }; query: {}; body: undefined; answer: PluginsNotes };
  /** The log of a plugin */
  "GET /plugins/{id}/logs": { path: { id: string }; query: { from?: number }; body: undefined; answer: PluginsLines };
  /** Take a plugin's rights back */
  "POST /plugins/{id}/revoke": { path: { id: string }; query: {}; body: { org?: string | null }; answer: PluginsNotes };
  /** Go back to a plugin's version before */
  "POST /plugins/{id}/rollback": { path: { id: string }; query: {}; body: undefined; answer: PluginsNotes };
  /** Start an ADC capture */
  "POST /scope/captures/start": { path: {}; query: {}; body: { device_id: string; name?: string | null; pre_samples?: number | null; sample_rate_mhz?: number | null; samples?: number | null; source?: "ext" | "cal1" | "cal2" | "current_in" | null; trigger?: { address?: number | string | null; baudrate?: number | null; bytes?: string | null; channel?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; direction?: "read" | "write" | null; edge?: "rising" | "falling" | "high" | "low" | null; level?: { channel: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; for_ns: number; level: "high" | "low" } | null; parity?: "none" | "odd" | "even" | null; pattern?: readonly ({ channel: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; level: "high" | "low" })[] | null; protocol?: "i2c" | "uart" | null; pulse?: { channel: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; level: "high" | "low"; longer_than_ns?: number | null; shorter_than_ns?: number | null } | null; rx?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; scl?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; sda?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; timeout_ms?: number | null } | null }; answer: CapturesStarted };
  /** Start a capture of the answer to a stimulus */
  "POST /scope/measure/start": { path: {}; query: {}; body: { device_id: string; name?: string | null; pre_samples?: number | null; sample_rate_mhz: number; samples: number; settle_ms?: number | null; stimulus: { generate: { amplitude: number; freq: number; offset: number; waveform: "sine" | "square" | "sawtooth" } } | { waveform_id: string } | { bits?: 8 | 16 | null; full_scale_v?: number | null; sample_rate_hz: number; samples_b64: string }; trigger?: { address?: number | string | null; baudrate?: number | null; bytes?: string | null; channel?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; direction?: "read" | "write" | null; edge?: "rising" | "falling" | "high" | "low" | null; level?: { channel: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; for_ns: number; level: "high" | "low" } | null; parity?: "none" | "odd" | "even" | null; pattern?: readonly ({ channel: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; level: "high" | "low" })[] | null; protocol?: "i2c" | "uart" | null; pulse?: { channel: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14"; level: "high" | "low"; longer_than_ns?: number | null; shorter_than_ns?: number | null } | null; rx?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; scl?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; sda?: number | "LA1" | "LA2" | "LA3" | "LA4" | "LA5" | "LA6" | "LA7" | "LA8" | "LA9" | "LA10" | "LA11" | "LA12" | "LA13" | "LA14" | null; timeout_ms?: number | null } | null }; answer: CapturesStarted };
  /** List secrets */
  "GET /secrets": { path: {}; query: {}; body: undefined; answer: SecretsSecrets };
  /** Write a secret */
  "PUT /secrets/{name}": { path: { name: string }; query: {}; body: { refs?: readonly (string)[] | null; value: string }; answer: SecretsSecret };
  /** Remove a secret */
  "DELETE /secrets/{name}": { path: { name: string }; query: {}; body: undefined; answer: undefined };
  /** List users */
  "GET /users": { path: {}; query: {}; body: undefined; answer: AuthUsers };
  /** Add a user */
  "POST /users": { path: {}; query: {}; body: { login: string; role?: "member" | "admin" | "owner" | null }; answer: AuthNewUser };
  /** Change a user's role, disable or enable it */
  "PATCH /users/{id}": { path: { id: string }; query: {}; body: { disabled?: boolean | null; role?: "member" | "admin" | "owner" | null }; answer: AuthUser };
  /** Remove a user */
  "DELETE /users/{id}": { path: { id: string }; query: {}; body: undefined; answer: undefined };
  /** Make a one-time sign-in code for a user */
  "POST /users/{id}/code": { path: { id: string }; query: {}; body: undefined; answer: AuthCode };
  /** List webhooks */
  "GET /webhooks": { path: {}; query: {}; body: undefined; answer: WebhooksWebhooks };
  /** Make a webhook */
  "POST /webhooks": { path: {}; query: {}; body: { events?: readonly (string)[] | null; name?: string | null; ref?: string | null; url: string }; answer: WebhooksNewRecord };
  /** Get a webhook */
  "GET /webhooks/{id}": { path: { id: string }; query: {}; body: undefined; answer: WebhooksRecord };
  /** Change a webhook */
  "PATCH /webhooks/{id}": { path: { id: string }; query: {}; body: { enabled?: boolean | null; events?: readonly (string)[] | null; name?: string | null; ref?: string | null; url?: string | null }; answer: WebhooksRecord };
  /** Remove a webhook */
  "DELETE /webhooks/{id}": { path: { id: string }; query: {}; body: undefined; answer: undefined };
  /** List the last messages to a webhook */
  "GET /webhooks/{id}/deliveries": { path: { id: string }; query: {}; body: undefined; answer: WebhooksDeliveries };
  /** Send a message to a webhook once more */
  "POST /webhooks/{id}/deliveries/{delivery}/redeliver": { path: { id: string; delivery: string }; query: {}; body: undefined; answer: WebhooksDelivery };
  /** Give a webhook another secret */
  "POST /webhooks/{id}/rotate": { path: { id: string }; query: {}; body: undefined; answer: WebhooksNewRecord };
  /** Send a test message to a webhook */
  "POST /webhooks/{id}/test": { path: { id: string }; query: {}; body: undefined; answer: WebhooksDelivery };
  /** Live captures of a device */
  "GET /ws/capture": { path: {}; query: { device_id: string; capture_id?: string; from_seq?: number; format?: "json" | "binary"; protocol?: string; annotations?: string; frames?: "all" | "none"; scl?: string; sda?: string; rx?: string; tx?: string; clk?: string; mosi?: string; miso?: string; cs?: string; options?: Readonly<Record<string, string>>; token?: string }; body: undefined; answer: undefined };
}
