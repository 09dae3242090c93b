/** Types of the schema in plotly.js. The build keeps only names and types of attributes. */
declare module 'plotly.js/dist/plot-schema.json' {
  const schema: {
    traces: Record<string, { attributes: object; layoutAttributes?: object }>
    layout: { layoutAttributes: object }
    frames: object
  }
  export default schema
}
