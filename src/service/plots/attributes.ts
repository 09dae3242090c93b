/**
 * Attributes of traces that hold data, by trace type. Written by attributes.generate.js from the plot
 * schemas of plotly.js 1.58.5, 2.35.3, 3.7.0, 4.1.1 (MIT licence, © Plotly Technologies Inc.).
 */

/** Those of nearly every type. */
export const common =
  'customdata hoverinfo hoverlabel.align hoverlabel.bgcolor hoverlabel.bordercolor hoverlabel.font.color hoverlabel.font.family hoverlabel.font.lineposition hoverlabel.font.shadow hoverlabel.font.size hoverlabel.font.style hoverlabel.font.textcase hoverlabel.font.variant hoverlabel.font.weight hoverlabel.namelength hovertemplate ids meta text'

/** What each type has besides; with a minus what of the common ones it has not. */
export const byType: Record<string, string> = {
  area: '-hoverlabel.font.lineposition -hoverlabel.font.shadow -hoverlabel.font.style -hoverlabel.font.textcase -hoverlabel.font.variant -hoverlabel.font.weight -hovertemplate -text marker.color marker.opacity marker.size marker.symbol r t',
  bar: 'base error_x.array error_x.arrayminus error_y.array error_y.arrayminus hovertext insidetextfont.color insidetextfont.family insidetextfont.lineposition insidetextfont.shadow insidetextfont.size insidetextfont.style insidetextfont.textcase insidetextfont.variant insidetextfont.weight marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.line.color marker.line.width marker.opacity marker.pattern.bgcolor marker.pattern.fgcolor marker.pattern.path marker.pattern.shape marker.pattern.size marker.pattern.solidity offset outsidetextfont.color outsidetextfont.family outsidetextfont.lineposition outsidetextfont.shadow outsidetextfont.size outsidetextfont.style outsidetextfont.textcase outsidetextfont.variant outsidetextfont.weight r t textfont.color textfont.family textfont.lineposition textfont.shadow textfont.size textfont.style textfont.textcase textfont.variant textfont.weight textposition texttemplate width x y',
  barpolar:
    'base hovertext marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.line.color marker.line.width marker.opacity marker.pattern.bgcolor marker.pattern.fgcolor marker.pattern.path marker.pattern.shape marker.pattern.size marker.pattern.solidity offset r theta width',
  box: 'hovertext lowerfence mean median notchspan q1 q3 sd upperfence x y',
  candlestick: 'close high hovertext low open x',
  carpet:
    '-hoverinfo -hoverlabel.align -hoverlabel.bgcolor -hoverlabel.bordercolor -hoverlabel.font.color -hoverlabel.font.family -hoverlabel.font.lineposition -hoverlabel.font.shadow -hoverlabel.font.size -hoverlabel.font.style -hoverlabel.font.textcase -hoverlabel.font.variant -hoverlabel.font.weight -hoverlabel.namelength -hovertemplate -text a aaxis.categoryarray aaxis.ticktext aaxis.tickvals b baxis.categoryarray baxis.ticktext baxis.tickvals x y',
  choropleth:
    'colorbar.ticktext colorbar.tickvals hovertext locations marker.line.color marker.line.width marker.opacity z',
  choroplethmap:
    'colorbar.ticktext colorbar.tickvals hovertext locations marker.line.color marker.line.width marker.opacity z',
  choroplethmapbox:
    'colorbar.ticktext colorbar.tickvals hovertext locations marker.line.color marker.line.width marker.opacity z',
  cone: 'colorbar.ticktext colorbar.tickvals hovertext u v w x y z',
  contour: 'colorbar.ticktext colorbar.tickvals hovertext x y z',
  contourcarpet:
    '-hoverinfo -hoverlabel.align -hoverlabel.bgcolor -hoverlabel.bordercolor -hoverlabel.font.color -hoverlabel.font.family -hoverlabel.font.lineposition -hoverlabel.font.shadow -hoverlabel.font.size -hoverlabel.font.style -hoverlabel.font.textcase -hoverlabel.font.variant -hoverlabel.font.weight -hoverlabel.namelength -hovertemplate a b colorbar.ticktext colorbar.tickvals hovertext z',
  densitymap: 'colorbar.ticktext colorbar.tickvals hovertext lat lon radius z',
  densitymapbox: 'colorbar.ticktext colorbar.tickvals hovertext lat lon radius z',
  funnel:
    'hovertext insidetextfont.color insidetextfont.family insidetextfont.lineposition insidetextfont.shadow insidetextfont.size insidetextfont.style insidetextfont.textcase insidetextfont.variant insidetextfont.weight marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.line.color marker.line.width marker.opacity outsidetextfont.color outsidetextfont.family outsidetextfont.lineposition outsidetextfont.shadow outsidetextfont.size outsidetextfont.style outsidetextfont.textcase outsidetextfont.variant outsidetextfont.weight textfont.color textfont.family textfont.lineposition textfont.shadow textfont.size textfont.style textfont.textcase textfont.variant textfont.weight textposition texttemplate x y',
  funnelarea:
    'hovertext insidetextfont.color insidetextfont.family insidetextfont.lineposition insidetextfont.shadow insidetextfont.size insidetextfont.style insidetextfont.textcase insidetextfont.variant insidetextfont.weight labels marker.colors marker.line.color marker.line.width marker.pattern.bgcolor marker.pattern.fgcolor marker.pattern.path marker.pattern.shape marker.pattern.size marker.pattern.solidity textfont.color textfont.family textfont.lineposition textfont.shadow textfont.size textfont.style textfont.textcase textfont.variant textfont.weight textposition texttemplate title.font.color title.font.family title.font.lineposition title.font.shadow title.font.size title.font.style title.font.textcase title.font.variant title.font.weight values',
  heatmap: 'colorbar.ticktext colorbar.tickvals hovertext x y z',
  heatmapgl: '-hovertemplate colorbar.ticktext colorbar.tickvals x y z',
  histogram:
    'error_x.array error_x.arrayminus error_y.array error_y.arrayminus hovertext marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.line.color marker.line.width marker.opacity marker.pattern.bgcolor marker.pattern.fgcolor marker.pattern.path marker.pattern.shape marker.pattern.size marker.pattern.solidity x y',
  histogram2d: '-text colorbar.ticktext colorbar.tickvals marker.color x y z',
  histogram2dcontour: '-text colorbar.ticktext colorbar.tickvals marker.color x y z',
  icicle:
    'hovertext insidetextfont.color insidetextfont.family insidetextfont.lineposition insidetextfont.shadow insidetextfont.size insidetextfont.style insidetextfont.textcase insidetextfont.variant insidetextfont.weight labels marker.colorbar.ticktext marker.colorbar.tickvals marker.colors marker.line.color marker.line.width marker.pattern.bgcolor marker.pattern.fgcolor marker.pattern.path marker.pattern.shape marker.pattern.size marker.pattern.solidity outsidetextfont.color outsidetextfont.family outsidetextfont.lineposition outsidetextfont.shadow outsidetextfont.size outsidetextfont.style outsidetextfont.textcase outsidetextfont.variant outsidetextfont.weight parents pathbar.textfont.color pathbar.textfont.family pathbar.textfont.lineposition pathbar.textfont.shadow pathbar.textfont.size pathbar.textfont.style pathbar.textfont.textcase pathbar.textfont.variant pathbar.textfont.weight textfont.color textfont.family textfont.lineposition textfont.shadow textfont.size textfont.style textfont.textcase textfont.variant textfont.weight texttemplate values',
  image: 'hovertext z',
  indicator:
    '-hoverinfo -hoverlabel.align -hoverlabel.bgcolor -hoverlabel.bordercolor -hoverlabel.font.color -hoverlabel.font.family -hoverlabel.font.lineposition -hoverlabel.font.shadow -hoverlabel.font.size -hoverlabel.font.style -hoverlabel.font.textcase -hoverlabel.font.variant -hoverlabel.font.weight -hoverlabel.namelength -hovertemplate -text gauge.axis.ticktext gauge.axis.tickvals',
  isosurface:
    'colorbar.ticktext colorbar.tickvals hovertext slices.x.locations slices.y.locations slices.z.locations value x y z',
  mesh3d: 'colorbar.ticktext colorbar.tickvals facecolor hovertext i intensity j k vertexcolor x y z',
  ohlc: 'close high hovertext low open x',
  parcats:
    '-customdata -hoverinfo -hoverlabel.align -hoverlabel.bgcolor -hoverlabel.bordercolor -hoverlabel.font.color -hoverlabel.font.family -hoverlabel.font.lineposition -hoverlabel.font.shadow -hoverlabel.font.size -hoverlabel.font.style -hoverlabel.font.textcase -hoverlabel.font.variant -hoverlabel.font.weight -hoverlabel.namelength -hovertemplate -ids -text counts line.color line.colorbar.ticktext line.colorbar.tickvals',
  parcoords:
    '-hoverinfo -hoverlabel.align -hoverlabel.bgcolor -hoverlabel.bordercolor -hoverlabel.font.color -hoverlabel.font.family -hoverlabel.font.lineposition -hoverlabel.font.shadow -hoverlabel.font.size -hoverlabel.font.style -hoverlabel.font.textcase -hoverlabel.font.variant -hoverlabel.font.weight -hoverlabel.namelength -hovertemplate -text line.color line.colorbar.ticktext line.colorbar.tickvals',
  pie: 'hovertext insidetextfont.color insidetextfont.family insidetextfont.lineposition insidetextfont.shadow insidetextfont.size insidetextfont.style insidetextfont.textcase insidetextfont.variant insidetextfont.weight labels legend legendrank marker.colors marker.line.color marker.line.width marker.pattern.bgcolor marker.pattern.fgcolor marker.pattern.path marker.pattern.shape marker.pattern.size marker.pattern.solidity outsidetextfont.color outsidetextfont.family outsidetextfont.lineposition outsidetextfont.shadow outsidetextfont.size outsidetextfont.style outsidetextfont.textcase outsidetextfont.variant outsidetextfont.weight pull showlegend textfont.color textfont.family textfont.lineposition textfont.shadow textfont.size textfont.style textfont.textcase textfont.variant textfont.weight textposition texttemplate title.font.color title.font.family title.font.lineposition title.font.shadow title.font.size title.font.style title.font.textcase title.font.variant title.font.weight values',
  pointcloud: '-hovertemplate indices x xbounds xy y ybounds',
  quiver:
    'marker.color marker.colorbar.ticktext marker.colorbar.tickvals textfont.color textfont.family textfont.lineposition textfont.shadow textfont.size textfont.style textfont.textcase textfont.variant textfont.weight textposition u v x y',
  sankey:
    '-hoverinfo -hovertemplate -text link.color link.customdata link.hovercolor link.hoverlabel.align link.hoverlabel.bgcolor link.hoverlabel.bordercolor link.hoverlabel.font.color link.hoverlabel.font.family link.hoverlabel.font.lineposition link.hoverlabel.font.shadow link.hoverlabel.font.size link.hoverlabel.font.style link.hoverlabel.font.textcase link.hoverlabel.font.variant link.hoverlabel.font.weight link.hoverlabel.namelength link.hovertemplate link.label link.line.color link.line.width link.source link.target link.value node.color node.customdata node.hoverlabel.align node.hoverlabel.bgcolor node.hoverlabel.bordercolor node.hoverlabel.font.color node.hoverlabel.font.family node.hoverlabel.font.lineposition node.hoverlabel.font.shadow node.hoverlabel.font.size node.hoverlabel.font.style node.hoverlabel.font.textcase node.hoverlabel.font.variant node.hoverlabel.font.weight node.hoverlabel.namelength node.hovertemplate node.label node.line.color node.line.width node.x node.y',
  scatter:
    'error_x.array error_x.arrayminus error_y.array error_y.arrayminus fillpattern.bgcolor fillpattern.fgcolor fillpattern.path fillpattern.shape fillpattern.size fillpattern.solidity hovertext line.backoff marker.angle marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.gradient.color marker.gradient.type marker.line.color marker.line.dash marker.line.width marker.opacity marker.size marker.standoff marker.symbol r t textfont.color textfont.family textfont.lineposition textfont.shadow textfont.size textfont.style textfont.textcase textfont.variant textfont.weight textposition texttemplate x y',
  scatter3d:
    'error_x.array error_x.arrayminus error_y.array error_y.arrayminus error_z.array error_z.arrayminus hovertext line.color line.colorbar.ticktext line.colorbar.tickvals marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.line.color marker.size marker.symbol textfont.color textfont.family textfont.size textfont.style textfont.variant textfont.weight textposition texttemplate x y z',
  scattercarpet:
    'a b hovertext line.backoff marker.angle marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.gradient.color marker.gradient.type marker.line.color marker.line.dash marker.line.width marker.opacity marker.size marker.standoff marker.symbol textfont.color textfont.family textfont.lineposition textfont.shadow textfont.size textfont.style textfont.textcase textfont.variant textfont.weight textposition texttemplate',
  scattergeo:
    'hovertext lat locations lon marker.angle marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.gradient.color marker.gradient.type marker.line.color marker.line.dash marker.line.width marker.opacity marker.size marker.standoff marker.symbol textfont.color textfont.family textfont.lineposition textfont.shadow textfont.size textfont.style textfont.textcase textfont.variant textfont.weight textposition texttemplate',
  scattergl:
    'error_x.array error_x.arrayminus error_y.array error_y.arrayminus hovertext marker.angle marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.line.color marker.line.width marker.opacity marker.size marker.symbol textfont.color textfont.family textfont.size textfont.style textfont.variant textfont.weight textposition texttemplate x y',
  scattermap:
    'cluster.color cluster.opacity cluster.size cluster.step hovertext lat lon marker.angle marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.opacity marker.size marker.symbol texttemplate',
  scattermapbox:
    'cluster.color cluster.opacity cluster.size cluster.step hovertext lat lon marker.angle marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.opacity marker.size marker.symbol texttemplate',
  scatterpolar:
    'hovertext line.backoff marker.angle marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.gradient.color marker.gradient.type marker.line.color marker.line.dash marker.line.width marker.opacity marker.size marker.standoff marker.symbol r textfont.color textfont.family textfont.lineposition textfont.shadow textfont.size textfont.style textfont.textcase textfont.variant textfont.weight textposition texttemplate theta',
  scatterpolargl:
    'hovertext marker.angle marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.line.color marker.line.width marker.opacity marker.size marker.symbol r textfont.color textfont.family textfont.size textfont.style textfont.variant textfont.weight textposition texttemplate theta',
  scattersmith:
    'hovertext imag line.backoff marker.angle marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.gradient.color marker.gradient.type marker.line.color marker.line.dash marker.line.width marker.opacity marker.size marker.standoff marker.symbol real textfont.color textfont.family textfont.lineposition textfont.shadow textfont.size textfont.style textfont.textcase textfont.variant textfont.weight textposition texttemplate',
  scatterternary:
    'a b c hovertext line.backoff marker.angle marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.gradient.color marker.gradient.type marker.line.color marker.line.dash marker.line.width marker.opacity marker.size marker.standoff marker.symbol textfont.color textfont.family textfont.lineposition textfont.shadow textfont.size textfont.style textfont.textcase textfont.variant textfont.weight textposition texttemplate',
  splom:
    'hovertext marker.angle marker.color marker.colorbar.ticktext marker.colorbar.tickvals marker.line.color marker.line.width marker.opacity marker.size marker.symbol',
  streamtube: '-text colorbar.ticktext colorbar.tickvals starts.x starts.y starts.z u v w x y z',
  sunburst:
    'hovertext insidetextfont.color insidetextfont.family insidetextfont.lineposition insidetextfont.shadow insidetextfont.size insidetextfont.style insidetextfont.textcase insidetextfont.variant insidetextfont.weight labels marker.colorbar.ticktext marker.colorbar.tickvals marker.colors marker.line.color marker.line.width marker.pattern.bgcolor marker.pattern.fgcolor marker.pattern.path marker.pattern.shape marker.pattern.size marker.pattern.solidity outsidetextfont.color outsidetextfont.family outsidetextfont.lineposition outsidetextfont.shadow outsidetextfont.size outsidetextfont.style outsidetextfont.textcase outsidetextfont.variant outsidetextfont.weight parents textfont.color textfont.family textfont.lineposition textfont.shadow textfont.size textfont.style textfont.textcase textfont.variant textfont.weight texttemplate values',
  surface: 'colorbar.ticktext colorbar.tickvals hovertext surfacecolor x y z',
  table:
    '-hovertemplate -text cells.align cells.fill.color cells.font.color cells.font.family cells.font.lineposition cells.font.shadow cells.font.size cells.font.style cells.font.textcase cells.font.variant cells.font.weight cells.format cells.line.color cells.line.width cells.prefix cells.suffix cells.values columnorder columnwidth header.align header.fill.color header.font.color header.font.family header.font.lineposition header.font.shadow header.font.size header.font.style header.font.textcase header.font.variant header.font.weight header.format header.line.color header.line.width header.prefix header.suffix header.values',
  treemap:
    'hovertext insidetextfont.color insidetextfont.family insidetextfont.lineposition insidetextfont.shadow insidetextfont.size insidetextfont.style insidetextfont.textcase insidetextfont.variant insidetextfont.weight labels marker.colorbar.ticktext marker.colorbar.tickvals marker.colors marker.line.color marker.line.width marker.pattern.bgcolor marker.pattern.fgcolor marker.pattern.path marker.pattern.shape marker.pattern.size marker.pattern.solidity outsidetextfont.color outsidetextfont.family outsidetextfont.lineposition outsidetextfont.shadow outsidetextfont.size outsidetextfont.style outsidetextfont.textcase outsidetextfont.variant outsidetextfont.weight parents pathbar.textfont.color pathbar.textfont.family pathbar.textfont.lineposition pathbar.textfont.shadow pathbar.textfont.size pathbar.textfont.style pathbar.textfont.textcase pathbar.textfont.variant pathbar.textfont.weight textfont.color textfont.family textfont.lineposition textfont.shadow textfont.size textfont.style textfont.textcase textfont.variant textfont.weight texttemplate values',
  violin: 'hovertext x y',
  volume:
    'colorbar.ticktext colorbar.tickvals hovertext slices.x.locations slices.y.locations slices.z.locations value x y z',
  waterfall:
    'hovertext insidetextfont.color insidetextfont.family insidetextfont.lineposition insidetextfont.shadow insidetextfont.size insidetextfont.style insidetextfont.textcase insidetextfont.variant insidetextfont.weight measure offset outsidetextfont.color outsidetextfont.family outsidetextfont.lineposition outsidetextfont.shadow outsidetextfont.size outsidetextfont.style outsidetextfont.textcase outsidetextfont.variant outsidetextfont.weight textfont.color textfont.family textfont.lineposition textfont.shadow textfont.size textfont.style textfont.textcase textfont.variant textfont.weight textposition texttemplate width x y',
}
