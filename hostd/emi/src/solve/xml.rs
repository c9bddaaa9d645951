//! The file that openEMS reads. Names of strangers are escaped, and are no names of files: those of probes are fixed.

use std::fmt::Write as _;

use super::mesh::Mesh;
use super::ports::Port;
use super::probe::PROBES;
use super::scene::Scene;
use super::{END_CRITERIA, Question};
use crate::plain::Escaped;

/// A boundary that swallows waves, in the words of openEMS.
const OPEN: &str = "MUR";

/// Longest name of a net that is written.
const NAME_MAX: usize = 80;

/// What wins where primitives overlap.
const PRIORITY_SLAB: u32 = 1;
const PRIORITY_COPPER: u32 = 10;
const PRIORITY_PORT: u32 = 20;

/// The model as XML.
pub(super) fn write(scene: &Scene, mesh: &Mesh, question: &Question, steps: u64) -> String {
    let half = question.highest_hz / 2.0;
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<openEMS>\n\
         <FDTD NumberOfTimesteps=\"{steps}\" endCriteria=\"{END_CRITERIA:e}\" f_max=\"{}\">\n\
         <Excitation Type=\"0\" f0=\"{half}\" fc=\"{half}\"/>\n\
         <BoundaryCond xmin=\"{OPEN}\" xmax=\"{OPEN}\" ymin=\"{OPEN}\" ymax=\"{OPEN}\" zmin=\"{OPEN}\" zmax=\"{OPEN}\"/>\n\
         </FDTD>\n<ContinuousStructure CoordSystem=\"0\">\n<Properties>\n",
        question.highest_hz
    );
    insulation(&mut xml, scene);
    copper(&mut xml, scene);
    for (index, port) in scene.ports.iter().enumerate() {
        add_port(&mut xml, scene, port, index, question.port_ohm);
    }
    xml.push_str("</Properties>\n<RectilinearGrid DeltaUnit=\"0.001\" CoordSystem=\"0\">\n");
    for (name, axis) in [("X", &mesh.x), ("Y", &mesh.y), ("Z", &mesh.z)] {
        let lines: Vec<String> = axis.iter().map(|x| number(*x)).collect();
        let _ = writeln!(xml, "<{name}Lines>{}</{name}Lines>", lines.join(","));
    }
    xml.push_str("</RectilinearGrid>\n</ContinuousStructure>\n</openEMS>\n");
    xml
}

fn insulation(xml: &mut String, scene: &Scene) {
    let region = scene.region;
    for (index, slab) in scene.slabs.iter().enumerate() {
        let (low, high) = slab.z;
        let _ = write!(
            xml,
            "<Material Name=\"insulation {index}\"><Property Epsilon=\"{}\" Mue=\"1\" Kappa=\"0\" Sigma=\"0\"/><Primitives>",
            number(slab.epsilon_r)
        );
        push_box(
            xml,
            PRIORITY_SLAB,
            [region.min.x, region.min.y, low],
            [region.max.x, region.max.y, high],
        );
        xml.push_str("</Primitives></Material>\n");
    }
}

fn copper(xml: &mut String, scene: &Scene) {
    for sheet in &scene.sheets {
        let kind = if sheet.is_of_net { "net" } else { "plane" };
        let name = escaped(&sheet.net);
        let _ = write!(
            xml,
            "<Metal Name=\"{kind} {name}\"><Primitives><Polygon Priority=\"{PRIORITY_COPPER}\" Elevation=\"{}\" \
             NormDir=\"2\" QtyVertices=\"{}\">",
            number(sheet.z),
            sheet.corners.len()
        );
        for (x, y) in &sheet.corners {
            let _ = write!(xml, "<Vertex X1=\"{}\" X2=\"{}\"/>", number(*x), number(*y));
        }
        xml.push_str("</Polygon></Primitives></Metal>\n");
    }
    if scene.posts.is_empty() {
        return;
    }
    xml.push_str("<Metal Name=\"posts\"><Primitives>\n");
    for post in &scene.posts {
        let (x, y) = (number(post.at.0), number(post.at.1));
        let (low, high) = (number(post.z.0), number(post.z.1));
        let _ = writeln!(
            xml,
            "<Cylinder Priority=\"{PRIORITY_COPPER}\" Radius=\"{}\"><P1 X=\"{x}\" Y=\"{y}\" Z=\"{low}\"/>\
             <P2 X=\"{x}\" Y=\"{y}\" Z=\"{high}\"/></Cylinder>",
            number(post.radius)
        );
    }
    xml.push_str("</Primitives></Metal>\n");
}

/// A resistor between plane and pad, the probes of its voltage and current, and, at the first port, a source.
fn add_port(xml: &mut String, scene: &Scene, port: &Port, index: usize, ohm: f64) {
    let (low, high) = (scene.height(port.plane), scene.height(port.layer));
    let half = port.width / 2.0;
    let at = port.at;
    let from = [at.x - half, at.y - half, low];
    let to = [at.x + half, at.y + half, high];
    // From the plane to the pad, which may be below it.
    let sign = if low < high { 1 } else { -1 };
    if index == 0 {
        let _ = write!(
            xml,
            "<Excitation Name=\"source\" Type=\"0\" Excite=\"0,0,{sign}\"><Primitives>"
        );
        push_box(xml, PRIORITY_PORT, from, to);
        xml.push_str("</Primitives></Excitation>\n");
    }
    let _ = write!(
        xml,
        "<LumpedElement Name=\"resistor {index}\" Direction=\"2\" Caps=\"1\" R=\"{}\"><Primitives>",
        number(ohm)
    );
    push_box(xml, PRIORITY_PORT, from, to);
    xml.push_str("</Primitives></LumpedElement>\n");
    let [voltage, current] = [PROBES[2 * index], PROBES[2 * index + 1]];
    let _ = write!(
        xml,
        "<ProbeBox Name=\"{voltage}\" Type=\"0\" Weight=\"-1\"><Primitives>"
    );
    push_box(xml, 0, [at.x, at.y, low], [at.x, at.y, high]);
    let middle = low.midpoint(high);
    let _ = write!(
        xml,
        "</Primitives></ProbeBox>\n<ProbeBox Name=\"{current}\" Type=\"1\" NormDir=\"2\" Weight=\"{sign}\"><Primitives>"
    );
    push_box(xml, 0, [from[0], from[1], middle], [to[0], to[1], middle]);
    xml.push_str("</Primitives></ProbeBox>\n");
}

fn push_box(xml: &mut String, priority: u32, from: [f64; 3], to: [f64; 3]) {
    let point = |[x, y, z]: [f64; 3]| {
        format!(
            "X=\"{}\" Y=\"{}\" Z=\"{}\"",
            number(x),
            number(y),
            number(z)
        )
    };
    let _ = write!(
        xml,
        "<Box Priority=\"{priority}\"><P1 {}/><P2 {}/></Box>",
        point(from),
        point(to)
    );
}

/// To the nanometre; all lengths are in mm.
fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

/// A stranger's text as the value of an attribute.
fn escaped(text: &str) -> String {
    let shown: String = text.chars().take(NAME_MAX).collect();
    Escaped(&shown).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_strangers_stay_in_their_attribute() {
        let hostile = "\"/><ProbeBox Name='../../etc/passwd'&\n\0";
        assert_eq!(
            escaped(hostile),
            "&quot;/&gt;&lt;ProbeBox Name=&#39;../../etc/passwd&#39;&amp;\u{fffd}\u{fffd}"
        );
        assert!(escaped(&"x".repeat(1000)).len() == NAME_MAX);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(1.0), "1");
        assert_eq!(number(-0.0000001), "0");
        assert_eq!(number(0.123_456_789), "0.123457");
        assert_eq!(number(-20.5), "-20.5");
    }
}
