export { default as plotSchema } from 'plotly.js/dist/plot-schema.json'
