//! The style of the page. The colour of each word has enough contrast with its background in light and
//! in dark.

/// The whole style sheet.
pub(super) const CSS: &str = "\
:root{color-scheme:light dark;--ground:#fff;--ink:#1d2430;--soft:#5b6675;--line:#d9dee6;--pane:#f5f7fa;\
--good:#18753c;--bad:#b3261e;--bench:#8a5300;--none:#5b6675;--wave:#1f5fbf}\
@media(prefers-color-scheme:dark){:root{--ground:#12161c;--ink:#e4e8ee;--soft:#9aa6b5;--line:#2d3642;--pane:#1a2028;\
--good:#5fcf8a;--bad:#ff8a80;--bench:#f2b45a;--none:#9aa6b5;--wave:#7db1ff}}\
body{margin:0 auto;padding:1.5rem;max-width:60rem;background:var(--ground);color:var(--ink);\
font:16px/1.5 system-ui,sans-serif}\
h1{margin:0;font-size:1.6rem}h2{margin:2rem 0 .5rem;font-size:1.15rem}\
header{border-left:.4rem solid var(--c);padding:.2rem 0 .2rem 1rem}\
.sentence{margin:.3rem 0 1rem;font-size:1.1rem;color:var(--c)}\
dl{display:flex;flex-wrap:wrap;gap:.3rem 2rem;margin:.5rem 0}\
dt{color:var(--soft);font-size:.8rem}dd{margin:0;overflow-wrap:anywhere}\
.axes dd{font-weight:600}\
.facts{margin:0 0 .5rem;color:var(--soft);font-size:.9rem}\
.good{--c:var(--good)}.bad{--c:var(--bad)}.bench{--c:var(--bench)}.none{--c:var(--none)}\
.case{border:1px solid var(--line);border-radius:.4rem;margin:.4rem 0;padding:.4rem .8rem}\
.case summary{cursor:pointer;display:flex;gap:.8rem;align-items:baseline}\
summary::before{content:'\u{25b8}';color:var(--soft)}details[open]>summary::before{content:'\u{25be}'}\
.word{color:var(--c);font-weight:600;min-width:7rem}.name{flex:1;overflow-wrap:anywhere}\
.time{color:var(--soft);font-size:.9rem;white-space:nowrap}\
.fault{margin:.5rem 0;color:var(--c)}code{color:var(--soft)}\
pre{margin:.5rem 0;padding:.6rem .8rem;background:var(--pane);border-radius:.3rem;overflow-x:auto;\
font:13px/1.45 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}\
svg{display:block;width:100%;height:auto;margin:.5rem 0;background:var(--pane);border-radius:.3rem}\
svg text{font:12px system-ui,sans-serif;fill:var(--ink)}svg .soft{fill:var(--soft)}svg .on{fill:var(--ground)}\
.wave{fill:none;stroke:var(--wave);stroke-width:1.5;vector-effect:non-scaling-stroke}\
.band{fill:var(--wave);stroke:var(--wave);stroke-width:1}\
.bar{fill:var(--wave)}.bar.bad{fill:var(--bad)}\
a{color:var(--wave)}\
table{border-collapse:collapse;width:100%;margin:.5rem 0;font-size:.9rem}\
th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}\
th{color:var(--soft);font-weight:400}\
@media(max-width:36rem){body{padding:.8rem}.word{min-width:0}}\
@media print{details{break-inside:avoid}body{max-width:none}}";
