//! Pictures of figures: panels of bars.

use plotters::prelude::*;

/// One bar, and the line over it that says how far measurements spread.
#[derive(Clone, Debug)]
pub struct Bar {
    pub label: String,
    pub value: f64,
    pub spread: Option<[f64; 2]>,
    /// Bars of one group have one colour.
    pub group: usize,
}

/// Bars under a title, with one axis.
#[derive(Clone, Debug)]
pub struct Panel {
    pub title: String,
    pub bars: Vec<Bar>,
}

/// Height of a bar with what stands between it and the next, in pixels.
const ROW: u32 = 18;
/// Room for a title and an axis.
const FRAME: u32 = 70;
const WIDTH: u32 = 900;
/// Characters of a label that fit beside the bars.
const LABEL: usize = 52;

/// Of groups in turn; the first five are told apart without red and green (Okabe and Ito).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(120, 120, 120),
    RGBColor(86, 180, 233),
    RGBColor(204, 121, 167),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(240, 228, 66),
];

/// The panels below each other, as SVG.
///
/// # Errors
/// What the plotting library says; there is nothing to draw.
pub fn svg(panels: &[Panel]) -> Result<String, String> {
    if panels.iter().all(|p| p.bars.is_empty()) {
        return Err("there are no figures to draw".into());
    }
    let height = |p: &Panel| p.bars.len() as u32 * ROW + FRAME;
    let mut out = String::new();
    {
        let root = SVGBackend::with_string(&mut out, (WIDTH, panels.iter().map(height).sum())).into_drawing_area();
        root.fill(&WHITE).map_err(|e| e.to_string())?;
        let mut rest = root.clone();
        for p in panels {
            let (panel, below) = rest.split_vertically(height(p));
            draw(&panel, p).map_err(|e| e.to_string())?;
            rest = below;
        }
        root.present().map_err(|e| e.to_string())?;
    }
    Ok(out)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw(area: &Area<'_>, panel: &Panel) -> Result<(), Box<dyn std::error::Error>> {
    let end = |b: &Bar| b.spread.map_or(b.value, |s| s[1].max(b.value));
    let most = panel.bars.iter().map(end).fold(1.0, f64::max);
    let n = panel.bars.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 16))
        .margin(6)
        .margin_right(30)
        .x_label_area_size(26)
        .y_label_area_size(300)
        .build_cartesian_2d(0f64..most * 1.05, 0f64..n)?;
    chart.configure_mesh().disable_y_mesh().max_light_lines(0).y_labels(0).x_labels(6).x_label_formatter(&|x| format!("{x:.0}")).draw()?;
    for (k, bar) in panel.bars.iter().enumerate() {
        // From the top down, as tables have them.
        let y = n - 1.0 - k as f64;
        let colour = COLOURS[bar.group % COLOURS.len()];
        chart.draw_series(std::iter::once(Rectangle::new([(0.0, y + 0.15), (bar.value, y + 0.85)], colour.filled())))?;
        if let Some([low, high]) = bar.spread {
            let line = vec![(low, y + 0.5), (high, y + 0.5)];
            chart.draw_series(std::iter::once(PathElement::new(line, BLACK.stroke_width(1))))?;
        }
        let place = chart.backend_coord(&(0.0, y + 0.5));
        let (_, top) = area.get_base_pixel();
        let short: String = bar.label.chars().take(LABEL).collect();
        area.draw(&Text::new(short, (8, place.1 - top - 5), ("sans-serif", 11)))?;
    }
    Ok(())
}
