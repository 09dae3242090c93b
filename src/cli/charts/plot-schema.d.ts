/** The attributes of plotly.js, as the package describes them. The build keeps their names and types. */
declare module 'plotly.js/dist/plot-schema.json' {
  const schema: {
    traces: Record<string, { attributes: object; layoutAttributes?: object }>
    layout: { layoutAttributes: object }
    frames: object
  }
  export default schema
}
