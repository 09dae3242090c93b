// Makers of maps.
import { barFormat } from '../axes.ts'
import { type Makers, pointsOf } from '../parts.ts'

export const mapsMakers = {
  async map(parts) {
    const { chart, columns, layout, transforms } = parts
    const { lat, lon, text, by } = columns
    const { xaxis: _, yaxis: __, ...rest } = layout
    const references = {
      latsrc: chart.reference(lat),
      lonsrc: chart.reference(lon),
      textsrc: chart.reference(text),
    }
    const trace = {
      type: 'scattergeo',
      mode: 'markers',
      name: lat?.name,
      ...references,
      marker: { opacity: 0.8, ...(await pointsOf(parts)) },
      transforms,
    }
    return { data: [trace], layout: { ...rest, geo: GEO, ...(by && { showlegend: true }) } }
  },
  async choropleth({ chart, columns: { x, ys, text }, layout, options, values, transforms }) {
    const { xaxis: _, yaxis: __, ...rest } = layout
    const places = x && (await values.places(x))
    return {
      data: [
        {
          type: 'choropleth',
          locationssrc: chart.reference(x),
          zsrc: chart.reference(ys[0]),
          textsrc: chart.reference(text),
          locationmode: places,
          colorbar: { title: { text: ys[0]?.name }, ...barFormat(options) },
          transforms,
        },
      ],
      layout: {
        ...rest,
        geo: places === 'USA-states' ? { ...GEO, scope: 'usa', projection: { type: 'albers usa' } } : GEO,
      },
    }
  },
} satisfies Makers

/** Geographic subplot of all maps. */
const GEO = {
  fitbounds: 'locations',
  projection: { type: 'natural earth' },
  showland: true,
  showcountries: true,
  showcoastlines: false,
  showframe: false,
}
