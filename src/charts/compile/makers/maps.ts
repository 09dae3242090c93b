// Makers of maps.
import { createColorbarFormat } from '../axes.ts'
import { createMarker, type Makers } from '../maker-input.ts'

export const mapsMakers = {
  async map(parts) {
    const { chart, columns, layout, transforms } = parts
    const { lat, lon, text, by } = columns
    const { xaxis: _, yaxis: __, ...rest } = layout
    const references = {
      latsrc: chart.formatReference(lat),
      lonsrc: chart.formatReference(lon),
      textsrc: chart.formatReference(text),
    }
    const trace = {
      type: 'scattergeo',
      mode: 'markers',
      name: lat?.name,
      ...references,
      marker: { opacity: 0.8, ...(await createMarker(parts)) },
      transforms,
    }
    return { data: [trace], layout: { ...rest, geo: GEO_LAYOUT, ...(by && { showlegend: true }) } }
  },
  async choropleth({ chart, columns: { x, ys, text }, layout, options, values, transforms }) {
    const { xaxis: _, yaxis: __, ...rest } = layout
    const places = x && (await values.detectPlaceKind(x))
    return {
      data: [
        {
          type: 'choropleth',
          locationssrc: chart.formatReference(x),
          zsrc: chart.formatReference(ys[0]),
          textsrc: chart.formatReference(text),
          locationmode: places,
          colorbar: { title: { text: ys[0]?.name }, ...createColorbarFormat(options) },
          transforms,
        },
      ],
      layout: {
        ...rest,
        geo:
          places === 'USA-states'
            ? { ...GEO_LAYOUT, scope: 'usa', projection: { type: 'albers usa' } }
            : GEO_LAYOUT,
      },
    }
  },
} satisfies Makers

/** Geographic subplot of all maps. */
const GEO_LAYOUT = {
  fitbounds: 'locations',
  projection: { type: 'natural earth' },
  showland: true,
  showcountries: true,
  showcoastlines: false,
  showframe: false,
}
