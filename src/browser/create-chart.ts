/// <reference lib="dom" />
// Creates a chart of a grid, as `gridline plot create --grid` does. Loaded when its button is pressed.
import { createChart } from '../charts/create-chart.ts'
import type { ChartGrid } from '../charts/spec/options.ts'
import { apiUrl, createChartClient, findElement, formatError, loadJson, sendRequest } from './api.ts'

const button = findElement('#make', HTMLButtonElement)
const status = findElement('#make + [role=status]', HTMLElement)
const { fid = '', create = '', grids = '', where, parent } = button.dataset

/** Maximum number of characters of the grid name in the name of its chart: names have a limit. */
const MAX_NAME_CHARACTERS = 200

async function createChartFile(): Promise<void> {
  button.disabled = true
  status.textContent = 'Creating a chart …'
  try {
    const grid: ChartGrid = await loadJson(apiUrl(grids, fid))
    const { type, figure } = await createChart(
      createChartClient(button.dataset),
      grid,
      { options: { where } },
      () => {},
    )
    const body = {
      figure,
      raw_data: 'grid',
      filename: `${grid.filename.slice(0, MAX_NAME_CHARACTERS)} ${type}`,
      on_conflict: 'rename',
      ...(parent !== undefined && Number(parent) >= 0 && { parent: Number(parent) }),
    }
    const headers = { 'content-type': 'application/json' }
    const response = await sendRequest(create, { method: 'POST', headers, body: JSON.stringify(body) })
    const { file } = await response.json()
    // Use the path only: the page may use another host name.
    location.assign(`${new URL(file.web_url).pathname}#edit`)
  } catch (error) {
    status.textContent = `No chart was created: ${formatError(error)}`
    button.disabled = false
  }
}

button.addEventListener('click', createChartFile)
createChartFile()
