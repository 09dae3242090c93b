// Texts that run a script if a page treats them as markup, and figures that contain them.

/** The call that a text makes if it is executed. */
type Call = (id: number) => string

const plainCall: Call = (id) => `__hit(${id})`

/** Other spellings of a call, for filters that look for a name. */
const calls: Call[] = [
  plainCall,
  (id) => `window['__h'+'it'](${id})`,
  (id) => `top.__hit(${id})`,
  (id) => `alert(${id})`,
  (id) => `__hit\`${id}\``,
]

const entity = (text: string, digits: (code: number) => string): string =>
  [...text].map((c) => `&#${digits(c.codePointAt(0)!)};`).join('')
const decimal = (text: string): string => entity(text, String)
const hexadecimal = (text: string): string => entity(text, (code) => `x${code.toString(16)}`)
const padded = (text: string): string =>
  entity(text, (code) => `${code}`.padStart(7, '0')).replaceAll(';', '')
const percent = (text: string): string =>
  [...text].map((c) => `%${c.codePointAt(0)!.toString(16).padStart(2, '0')}`).join('')
const unicode = (text: string): string =>
  [...text].map((c) => `\\u${c.codePointAt(0)!.toString(16).padStart(4, '0')}`).join('')

/** Spellings of `javascript:`. */
const schemes = [
  'javascript:',
  'JaVaScRiPt:',
  ' javascript:',
  '\tjavascript:',
  '\u0001javascript:',
  'java\tscript:',
  'java\nscript:',
  'java\rscript:',
  'javascript\t:',
  'javascript&colon;',
  'java&Tab;script:',
  'java&NewLine;script&colon;',
  '&#1;javascript:',
  decimal('javascript:'),
  hexadecimal('javascript:'),
  padded('javascript:'),
  percent('javascript:'),
  'javascript%3a',
  'view-source:javascript:',
  'vbscript:',
  'javascript://%0a',
  'javascript:/*--></title></style></textarea></script>*/',
  'ｊavascript:',
]

/** Elements that run a script without a click. */
const elements: ((call: string) => string)[] = [
  (call) => `<script>${call}</script>`,
  (call) => `<ScRiPt>${call}</sCrIpT>`,
  (call) => `<script\n>${call}</script\t>`,
  (call) => `<script/x>${call}</script/x>`,
  (call) => `<script src="data:text/javascript,${encodeURIComponent(call)}"></script>`,
  (call) => `<script type="module">${call}</script>`,
  (call) => `<scr<script>ipt>${call}</scr</script>ipt>`,
  (call) => `<<script>${call}//<</script>`,
  (call) => `<img src=x onerror=${call}>`,
  (call) => `<img src=x onerror="${call}">`,
  (call) => `<img/src=x/onerror='${call}'/>`,
  (call) => `<img src=x onerror=${decimal(call)}>`,
  (call) => `<img src=x onerror=${hexadecimal(call)}>`,
  (call) => `<IMG """><SCRIPT>${call}</SCRIPT>">`,
  (call) => `<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" onload=${call}>`,
  (call) => `<img srcset="x 1x" onerror=${call}`,
  (call) => `<image href=x onerror=${call}>`,
  (call) => `<svg onload=${call}>`,
  (call) => `<svg/onload=${call}/>`,
  (call) => `<svg><script>${call}</script></svg>`,
  (call) => `<svg><script>${decimal(call)}</script></svg>`,
  (call) => `<svg><animate onbegin=${call} attributeName=x dur=1s></svg>`,
  (call) => `<svg><set onbegin="${call}" attributeName=x></set></svg>`,
  (call) => `<svg><foreignObject><img src=x onerror=${call}></foreignObject></svg>`,
  (call) => `<svg><style><img src=x onerror=${call}></style></svg>`,
  (call) => `<svg><title><style><img src=x onerror="${call}"></style></title></svg>`,
  (call) => `<svg><image href="x" onerror="${call}"/></svg>`,
  (call) =>
    `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg' onload='${call}'/>#x"/>`,
  (call) => `<math><mtext><table><mglyph><style><img src=x onerror=${call}>`,
  (call) => `<math><annotation-xml encoding="text/html"><img src=x onerror=${call}></annotation-xml></math>`,
  (call) => `<body onload=${call}>`,
  (call) => `<body onpageshow=${call}>`,
  (call) => `<html onmouseover=${call}>`,
  (call) => `<input autofocus onfocus=${call}>`,
  (call) => `<textarea autofocus onfocus=${call}></textarea>`,
  (call) => `<select autofocus onfocus=${call}></select>`,
  (call) => `<button autofocus onfocus=${call}>b</button>`,
  (call) => `<p tabindex=1 autofocus onfocus=${call}>p`,
  (call) => `<details open ontoggle=${call}>d</details>`,
  (call) => `<video src=x onerror=${call}></video>`,
  (call) => `<video><source src=x onerror=${call}></video>`,
  (call) => `<audio src=x onerror=${call}>`,
  (call) => `<iframe src="javascript:parent.${call}"></iframe>`,
  (call) => `<iframe srcdoc="<script>parent.${call}</script>"></iframe>`,
  (call) => `<iframe srcdoc="${decimal(`<script>parent.${call}</script>`)}"></iframe>`,
  (call) => `<iframe onload=${call}></iframe>`,
  (call) => `<object data="javascript:${call}"></object>`,
  (call) => `<object data="data:text/html,<script>${call}</script>"></object>`,
  (call) => `<embed src="javascript:${call}">`,
  (call) => `<link rel=stylesheet href=x onerror=${call}>`,
  (call) => `<link rel=import href="data:text/html,<script>${call}</script>">`,
  (call) => `<meta http-equiv=refresh content="0;url=javascript:${call}">`,
  (call) => `<meta http-equiv=refresh content="0;url=data:text/html,<script>${call}</script>">`,
  (call) => `<base href="javascript:${call}//">`,
  (call) => `<style onload=${call}></style>`,
  (call) => `<style>@keyframes k{}*{animation:k}</style><b onanimationstart=${call}>`,
  (call) => `<marquee onstart=${call}>m</marquee>`,
  (call) => `<dialog open onclose=${call}><form method=dialog><button autofocus>`,
  (call) => `<template><script>${call}</script></template><script>${call}</script>`,
  (call) => `<noscript><p title="</noscript><img src=x onerror=${call}>">`,
  (call) => `<xmp><p title="</xmp><svg onload=${call}>">`,
  (call) => `<plaintext><script>${call}`,
  (call) => `<frameset onload=${call}>`,
  (call) => `<x onclick=${call} onmouseover=${call} style="position:fixed;inset:0">x</x>`,
  (call) => `<div onpointerover="${call}" style="position:fixed;top:0;left:0;width:9999px;height:9999px">`,
]

/** Prefixes by which an element escapes its context. */
const breakouts = [
  '">',
  "'>",
  '`>',
  '"/>',
  '\\">',
  '\\\\">',
  '&quot;>',
  '</script>',
  '</SCRIPT >',
  '</script\n>',
  '</scr\u0000ipt>',
  '<!--',
  '<!--<script>',
  '--></script>',
  '<!--<script></script>',
  ']]>',
  '<![CDATA[',
  '<?xml version="1.0"?>',
  '</title>',
  '</style>',
  '</textarea>',
  '</iframe>',
  '</noscript>',
  '</text></svg>',
  '</pre>',
  '</td></table>',
  '</template>',
  '\u2028',
  '\u0000',
  '\ufeff',
  '\ud800',
  '\u202e',
  '\u00ad',
]

/** Attributes that escape from an attribute value. */
const attributes: ((call: string) => string)[] = [
  (call) => `" onmouseover="${call}" x="`,
  (call) => `' onmouseover='${call}' x='`,
  (call) => `" autofocus tabindex=1 onfocus=${call} x="`,
  (call) => `' onload='${call}`,
  (call) => `x" style="animation-name:k" onanimationstart="${call}`,
  (call) => `x onerror=${call}`,
  (call) => `&quot; onmouseover=&quot;${call}`,
  (call) => `&#34; onmouseover=&#34;${call}`,
  (call) => `\\" onmouseover=\\"${call}`,
  (call) => `\uff1c\uff33cript>${call}`,
  (call) => `javascript:${call}`,
  (call) => `");${call}//`,
  (call) => `');${call}//`,
  (call) => `\`);${call}//`,
  (call) => `\${${call}}`,
  (call) => `{{${call}}}`,
  (call) => `{{constructor.constructor('${call}')()}}`,
  (call) => `#{${call}}`,
  (call) => `<%= ${call} %>`,
  (call) => `\\");${call}//`,
  (call) => `\u2028${call}//`,
  (call) => `\n${call}\n`,
  (call) => unicode(`<script>${call}</script>`),
  (call) => decimal(`<script>${call}</script>`),
  (call) => hexadecimal(`<img src=x onerror=${call}>`),
  (call) => percent(`<script>${call}</script>`),
  (call) => percent(percent(`<script>${call}</script>`)),
  (call) => `+ADw-script+AD4-${call}+ADw-/script+AD4-`,
  (call) => `&lt;script&gt;${call}&lt;/script&gt;`,
  (call) => `&amp;lt;script&amp;gt;${call}`,
  (call) => `expression(${call})`,
  (call) => `red;background:url(javascript:${call})`,
  (call) => `red}*{background:url("javascript:${call}")}`,
  (call) => `</style><script>${call}</script>`,
  (call) => `url(data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='${call}'/>)`,
  (call) => `data:text/html,<script>${call}</script>`,
  (call) => `data:text/html;base64,${Buffer.from(`<script>${call}</script>`).toString('base64')}`,
  (call) => `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" onload="${call}"/>`,
  (call) => `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"><script>${call}</script></svg>`,
  (call) => `__proto__[onerror]=${call}`,
  (call) => `constructor.prototype.innerHTML=<img src=x onerror=${call}>`,
  (call) => `$\\href{javascript:${call}}{formula}$`,
  (call) => `$\\unicode{<img src=x onerror=${call}>}$`,
  (call) => `$\\style{behavior:url(x)}{\\class{" onmouseover="${call}}{x}}$`,
  (call) => `$</text><script>${call}</script>$`,
]

/** Markup that plotly.js interprets in texts. */
const pseudo: ((call: string) => string)[] = [
  (call) => `<b onmouseover="${call}">bold</b>`,
  (call) => `<span style="color:red" onmouseover="${call}">span</span>`,
  (call) => `<span style="background:url(javascript:${call})">span</span>`,
  (call) => `<span style='" onmouseover="${call}" x="'>span</span>`,
  (call) => `<span style="TOBESTRIPPED' onmouseover='${call}' x='TOBESTRIPPED">span</span>`,
  (call) =>
    `<span style="TOBESTRIPPED' tabindex='0' autofocus='' onfocus='${call}' x='TOBESTRIPPED">span</span>`,
  (call) => `<a href="https://example.invalid/" onclick="${call}">link</a>`,
  (call) => `<a href='x" onclick="${call}'>link</a>`,
  (call) => `<a href="https://example.invalid/" popup="width=1&quot;);${call}//">link</a>`,
  (call) => `<a href="https://example.invalid/" popup='width=1");${call}//'>link</a>`,
  (call) =>
    `<a href="https://example.invalid/" style="x:TOBESTRIPPED' onmouseover='${call}' y='TOBESTRIPPED">link</a>`,
  (call) => `<sub><sup><script>${call}</script></sup></sub>`,
  (call) => `<br onload=${call}><em><i><u><s>${call}`,
  (call) => `<b>&lt;img src=x onerror=${call}&gt;</b>`,
  (call) => `%{x}<extra><img src=x onerror=${call}></extra>`,
  (call) => `%{customdata[0]}<extra><a href="javascript:${call}">%{text}</a></extra>`,
  (call) => `%{text:${call}}%{meta.constructor}`,
]

/** More than 300 texts. Each calls `__hit` or `alert` with its number if it is executed. */
export function hostileTexts(): string[] {
  const texts: string[] = []
  const add = (text: (call: string) => string, call: Call = plainCall): void => {
    texts.push(text(call(texts.length)))
  }
  for (const element of elements) for (const call of calls.slice(0, 2)) add(element, call)
  for (const call of calls) {
    add(elements[0], call)
    add(elements[8], call)
    add(elements[17], call)
  }
  for (const breakout of breakouts)
    for (const element of [elements[0], elements[8]]) add((call) => breakout + element(call))
  for (const attribute of attributes) add(attribute)
  for (const one of pseudo) add(one)
  for (const scheme of schemes) {
    add((call) => `<a href="${scheme}${call}">link</a>`)
  }
  for (const url of [
    (call: string) => `data:text/html,<script>${call}</script>`,
    (call: string) => `data:text/html;base64,${Buffer.from(`<script>${call}</script>`).toString('base64')}`,
    (call: string) => `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='${call}'/>`,
    (call: string) => `blob:null/${call}`,
    (call: string) => `filesystem:http://localhost/${call}`,
    (call: string) => `file:///etc/passwd#${call}`,
  ])
    add((call) => `<a href="${url(call)}">link</a>`)
  return texts
}

type Values = Record<string, unknown>

/** Figures that together contain each text in every visible or active attribute. */
export function hostileFigures(texts: readonly string[]): Values[] {
  return [cartesian(texts), others(texts), controls(texts)]
}

/** Attributes that occur once in a figure get all texts combined. */
const all = (texts: readonly string[]): string => texts.join('<br>')

const font = (text: string): Values => ({ family: text, color: text, size: 8 })

function cartesian(texts: readonly string[]): Values {
  const places = texts.map((_, k) => k + 1)
  const layout: Values = {
    title: { text: all(texts), subtitle: { text: all(texts), font: font(texts[0]) }, font: font(texts[0]) },
    xaxis: { tickvals: places, ticktext: texts, title: { text: all(texts) }, hoverformat: texts[0] },
    yaxis: { type: 'category', ticksuffix: texts[1], tickprefix: texts[0], title: { text: all(texts) } },
    font: font(texts[0]),
    paper_bgcolor: texts[0],
    plot_bgcolor: texts[1],
    hovermode: 'closest',
    hoverlabel: { font: font(texts[0]), bgcolor: texts[0], namelength: -1 },
    legend: { title: { text: all(texts) }, bgcolor: texts[0], font: font(texts[0]) },
    coloraxis: { colorbar: { title: { text: all(texts) }, tickvals: places, ticktext: texts } },
    meta: texts,
    uirevision: texts[0],
    annotations: texts.map((text, k) => ({
      x: k + 1,
      y: 0,
      text,
      name: text,
      hovertext: text,
      clicktoshow: 'onoff',
      xclick: k + 1,
      captureevents: true,
      font: font(text),
      bgcolor: text,
      arrowcolor: text,
    })),
    shapes: texts.map((text) => ({
      type: 'path',
      path: 'M0,0L1,1',
      fillcolor: text,
      name: text,
      line: { color: text, dash: text },
      label: { text, texttemplate: text, font: font(text) },
    })),
    images: texts.map((source) => ({ source, x: 0, y: 1, sizex: 0.1, sizey: 0.1, name: source })),
    template: {
      data: { scatter: [{ name: texts[0], hovertemplate: texts[1] }] },
      layout: {
        title: { text: texts[0] },
        annotationdefaults: { hovertext: texts[0] },
        annotations: texts.map((text, k) => ({ name: `t${k}`, text })),
      },
    },
  }
  const data = texts.map((text, k) => ({
    type: k % 2 ? 'bar' : 'scatter',
    mode: 'markers+text+lines',
    name: text,
    legendgroup: text,
    legendgrouptitle: { text },
    x: [k + 1],
    y: [text],
    ids: [text],
    text: [text],
    hovertext: [text],
    customdata: [[text]],
    hovertemplate: `${text} %{customdata[0]}<extra>${text}</extra>`,
    texttemplate: text,
    meta: [text],
    uid: text,
    stackgroup: k % 2 ? undefined : text,
    marker: { color: k % 3 ? text : [1], coloraxis: 'coloraxis', symbol: text, line: { color: text } },
    line: { color: text, shape: text },
    textfont: font(text),
    hoverlabel: { bgcolor: text, font: font(text) },
  }))
  return { data, layout }
}

function others(given: readonly string[]): Values {
  // Each text in some types, since all texts in all types would take seconds to draw.
  const texts = given.filter((_, k) => k % 2 === 0)
  const ones = texts.map(() => 1)
  const at = (k: number): Values => ({
    x: [(k % 4) / 4, (k % 4) / 4 + 0.2],
    y: [k < 4 ? 0 : 0.5, k < 4 ? 0.4 : 0.9],
  })
  const labels = {
    labels: texts,
    text: texts,
    hovertext: texts,
    customdata: texts,
    ids: texts.map((text, k) => `${text}${k}`),
  }
  const hover = { hovertemplate: `%{label} %{text} ${texts[0]}<extra>${texts[1]}</extra>`, name: texts[0] }
  return {
    data: [
      { type: 'pie', ...labels, ...hover, values: ones, domain: at(0), title: { text: all(texts) } },
      { type: 'treemap', ...labels, ...hover, parents: texts.map(() => ''), values: ones, domain: at(1) },
      { type: 'sunburst', ...labels, ...hover, parents: texts.map(() => ''), values: ones, domain: at(2) },
      { type: 'icicle', ...labels, ...hover, parents: texts.map(() => ''), values: ones, domain: at(3) },
      {
        type: 'table',
        domain: at(4),
        header: { values: texts, font: font(texts[0]), fill: { color: texts[0] } },
        cells: {
          values: texts.map((text) => [text, text]),
          prefix: texts[0],
          suffix: texts[1],
          format: texts,
        },
      },
      {
        type: 'sankey',
        domain: at(5),
        node: { label: texts, color: texts, customdata: texts, hovertemplate: `%{label}${texts[0]}` },
        link: {
          source: texts.slice(1).map(() => 0),
          target: texts.slice(1).map((_, k) => k + 1),
          value: texts.slice(1).map(() => 1),
          label: texts.slice(1),
          customdata: texts.slice(1),
          hovertemplate: `%{label}${texts[0]}`,
        },
      },
      {
        type: 'parcats',
        domain: at(6),
        dimensions: [
          { label: texts[0], values: texts },
          { label: texts[1], values: texts, categoryarray: texts, ticktext: texts },
        ],
        hovertemplate: texts[0],
      },
      {
        type: 'indicator',
        mode: 'number+delta',
        value: 1,
        domain: at(7),
        title: { text: all(texts) },
        number: { prefix: texts[0], suffix: texts[1] },
      },
      ...texts.slice(0, 1).map((text) => ({
        type: 'scatterpolar',
        r: ones,
        theta: texts,
        text: texts,
        name: text,
        hovertemplate: text,
      })),
      {
        type: 'scatterternary',
        a: ones,
        b: ones,
        c: ones,
        text: texts,
        mode: 'markers+text',
        name: texts[0],
      },
      { type: 'scattergeo', locations: texts, locationmode: 'country names', text: texts, name: texts[0] },
      { type: 'scattergeo', lon: ones, lat: ones, text: texts, hovertext: texts, mode: 'text+markers' },
      {
        type: 'choropleth',
        locations: texts,
        z: ones,
        featureidkey: texts[0],
        colorbar: { title: { text: texts[0] } },
      },
      {
        type: 'heatmap',
        z: [ones],
        x: texts,
        y: [texts[0]],
        text: [texts],
        texttemplate: '%{text}',
        hovertext: [texts],
      },
      { type: 'histogram', x: texts, name: texts[0] },
      { type: 'box', x: texts, y: ones, name: texts[0] },
      { type: 'violin', y: ones, x: texts, text: texts, name: texts[1] },
      { type: 'funnelarea', ...labels, values: ones, domain: { x: [0.9, 1], y: [0.9, 1] } },
      { type: 'carpet', a: [1, 2, 3], b: [1, 2, 3], y: [1, 2, 3], aaxis: { title: { text: texts[0] } } },
      {
        type: 'parcoords',
        dimensions: texts
          .slice(0, 8)
          .map((label) => ({ label, values: [1, 2], ticktext: [label, label], tickvals: [1, 2] })),
      },
    ],
    layout: {
      polar: { angularaxis: { ticktext: texts }, radialaxis: { title: { text: all(texts) } } },
      ternary: { aaxis: { title: { text: all(texts) } }, bgcolor: texts[0] },
      geo: { bgcolor: texts[0], uirevision: texts[0], scope: texts[0], landcolor: texts[0] },
      treemapcolorway: texts,
      colorway: texts,
    },
  }
}

/** Buttons, sliders, frames, and settings. */
function controls(texts: readonly string[]): Values {
  const changes = (text: string): unknown[] => [
    { 'title.text': text, 'annotations[0].text': text, 'images[0].source': text },
  ]
  return {
    data: [{ x: [1, 2], y: [1, 2], name: texts[0] }],
    frames: texts.map((text) => ({
      name: text,
      group: text,
      data: [{ name: text, text: [text, text], mode: 'text' }],
      layout: { title: { text }, images: [{ source: text }] },
    })),
    layout: {
      title: { text: texts[0] },
      annotations: [{ text: texts[0] }],
      updatemenus: texts.map((text, k) => ({
        type: 'buttons',
        direction: 'right',
        x: 0,
        y: k / texts.length,
        bgcolor: text,
        font: font(text),
        name: text,
        buttons: [
          { label: text, name: text, method: 'relayout', args: changes(text), args2: changes(text) },
          { label: text, method: 'restyle', args: ['name', text] },
          { label: text, method: 'animate', args: [[text]] },
        ],
      })),
      sliders: [
        {
          currentvalue: { prefix: texts[0], suffix: texts[1], font: font(texts[0]) },
          steps: texts.map((text) => ({
            label: text,
            value: text,
            name: text,
            method: 'relayout',
            args: changes(text),
          })),
        },
      ],
      modebar: { bgcolor: texts[0], add: texts, remove: texts, orientation: texts[0] },
      xaxis: {
        rangeselector: { buttons: texts.map((label) => ({ label, name: label, step: 'all' })) },
        type: 'date',
      },
      newshape: { label: { text: texts[0] }, name: texts[0] },
      separators: texts[0],
    },
    config: {
      editable: true,
      locale: texts[0],
      plotlyServerURL: texts[0],
      modeBarButtonsToAdd: texts.map((name) => ({ name, title: name, icon: { svg: name }, click: name })),
      toImageButtonOptions: { filename: texts[0] },
      topojsonURL: texts[0],
      linkText: texts[0],
      showLink: true,
    },
  }
}
