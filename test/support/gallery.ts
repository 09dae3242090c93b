// The charts of docs/charts.md, with their commands and tables.
import type { ChartOptions } from '../../src/charts/spec/options.ts'
import type { ChartType } from '../../src/charts/spec/types.ts'

const rounded = (value: number): number => Math.round(value * 10) / 10
const csv = (header: string, rows: readonly (readonly unknown[])[]): string =>
  `${header}\n${rows.map((row) => row.join(',')).join('\n')}\n`
const count = (length: number): number[] => Array.from({ length }, (_, k) => k)
/** Seeded random numbers from 0 to 1. */
const noise = (k: number): number => (Math.sin(k * 12.9898) * 43758.5453) % 1
const day = (k: number): string => new Date(Date.UTC(2024, 0, 1 + k)).toISOString().slice(0, 10)
const month = (k: number): string => new Date(Date.UTC(2022, k, 1)).toISOString().slice(0, 10)
const CITIES = ['Oslo', 'Rome', 'New York', 'Tokyo', 'Paris', 'Rio de Janeiro']

/** The tables of the gallery, as CSV. All are made up but `population` (United Nations, World Population Prospects 2022) and `reigns` (kings and queens of Great Britain). */
export const tables: Record<string, string> = {
  sales: csv(
    'month,Oslo,Bergen,Tromsø',
    count(12).map((k) => [
      month(k),
      rounded(40 + k * 3 + noise(k) * 5),
      rounded(30 + k * 2 + noise(k + 20) * 5),
      rounded(28 + k * 2 + noise(k + 40) * 3),
    ]),
  ),
  revenue: csv(
    'date,city,revenue',
    count(24).flatMap((k) =>
      CITIES.map((city, n) => [
        month(k),
        city,
        Math.round(1e6 * (1 + n + Math.sin(k / 3 + n) * 0.4 + k * 0.03)),
      ]),
    ),
  ),
  population: csv('country,people', [
    ['United States of America', 338289857],
    ['Democratic Republic of the Congo', 99010212],
    ['Germany', 83369843],
    ['Brazil', 215313498],
    ['Indonesia', 275501339],
    ['Ethiopia', 123379924],
    ['Norway', 5434319],
    ['Papua New Guinea', 10142619],
  ]),
  fruit: csv('fruit,kg', [
    ['Apples', 34],
    ['Pears', 21],
    ['Plums', 18],
    ['Cherries', 9],
    ['Figs', 7],
    ['Dates', 5],
    ['Kiwis', 3],
    ['Limes', 1],
  ]),
  poll: csv('answer,men,women', [
    ['Strongly agree', 12, 18],
    ['Agree', 33, 35],
    ['Neither agree nor disagree', 20, 17],
    ['Disagree', 25, 20],
    ['Strongly disagree', 10, 10],
  ]),
  survey: csv(
    'age,group,score',
    count(400).map((k) => [
      18 + Math.floor(Math.abs(noise(k)) * 60),
      'ABC'[k % 3],
      rounded(50 + (noise(k + 1000) + noise(k + 2000) + noise(k + 3000)) * 12),
    ]),
  ),
  wave: csv(
    'x,y,height',
    count(12).flatMap((x) =>
      count(12).map((y) => [x, y, rounded(100 * Math.sin(x / 3) * Math.cos(y / 3)) / 100]),
    ),
  ),
  prices: csv(
    'day,open,high,low,close',
    count(40).map((k) => {
      const open = rounded(100 + k * 0.4 + noise(k) * 3)
      return [day(k), open, rounded(open + 3), rounded(open - 2), rounded(open + noise(k + 9) * 2)]
    }),
  ),
  cash: csv('step,amount', [
    ['Start', 100],
    ['Sales', 40],
    ['Refunds', -15],
    ['Costs', -60],
    ['Grants', 20],
  ]),
  regions: csv('region,parent,value', [
    ['Europe', '', ''],
    ['Asia', '', ''],
    ['Norway', 'Europe', 10],
    ['Italy', 'Europe', 20],
    ['Japan', 'Asia', 20],
    ['India', 'Asia', 30],
  ]),
  places: csv('place,lat,lon,visitors', [
    ['Oslo', 59.9, 10.7, 700],
    ['Rome', 41.9, 12.5, 2800],
    ['Tokyo', 35.7, 139.7, 13900],
    ['New York', 40.7, -74, 8400],
    ['Nairobi', -1.3, 36.8, 4400],
  ]),
  states: csv('state,rate', [
    ['CA', 5.1],
    ['TX', 4],
    ['NY', 4.4],
    ['FL', 3.1],
    ['WA', 4.6],
    ['CO', 3],
  ]),
  cars: csv(
    'model,power,weight,mpg',
    count(40).map((k) => [
      `Car ${k + 1}`,
      60 + Math.round(Math.abs(noise(k)) * 160),
      900 + Math.round(Math.abs(noise(k + 50)) * 1300),
      rounded(12 + Math.abs(noise(k + 90)) * 30),
    ]),
  ),
  temperatures: csv(
    'month,low,high',
    'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ').map((name, k) => {
      const low = rounded(2 - 9 * Math.cos(((k - 0.5) * Math.PI) / 6))
      return [name, low, rounded(low + 7 + Math.abs(noise(k)) * 3)]
    }),
  ),
  projects: csv('project,team,start,end', [
    ['Survey', 'North', '2024-01-08', '2024-03-01'],
    ['Design', 'South', '2024-02-12', '2024-05-20'],
    ['Building', 'North', '2024-04-15', '2024-10-04'],
    ['Opening', 'South', '2024-09-23', '2024-11-15'],
  ]),
  ages: csv(
    'age,men,women',
    ['0–14', '15–29', '30–44', '45–59', '60–74', '75 and more'].map((age, k) => [
      age,
      [440, 520, 560, 530, 400, 170][k],
      [420, 500, 540, 520, 420, 240][k],
    ]),
  ),
  skills: csv('skill,2023,2024', [
    ['Speed', 6, 7],
    ['Strength', 5, 6],
    ['Balance', 8, 7],
    ['Endurance', 4, 7],
    ['Reach', 6, 6],
  ]),
  wind: csv(
    'lon,lat,direction,speed',
    count(60).map((k) => [
      5 + (k % 10) * 0.5,
      50 + Math.floor(k / 10) * 0.5,
      Math.round(180 + 90 * Math.sin(k / 9)),
      rounded(3 + 2 * Math.cos(k / 7)),
    ]),
  ),
  gusts: csv(
    'direction,speed',
    count(400).map((k) => [
      Math.round(230 + 90 * noise(k) + 40 * noise(k + 7)) % 360,
      rounded(1 + Math.abs(noise(k + 3) + noise(k + 90)) * 9),
    ]),
  ),
  visits: csv(
    'day,visits',
    count(500).map((k) => [
      new Date(Date.UTC(2023, 7, 1 + k)).toISOString().slice(0, 10),
      Math.round(120 + 60 * Math.sin(k / 58) + 40 * Math.abs(noise(k)) - (k % 7 > 4 ? 50 : 0)),
    ]),
  ),
  reigns: csv('name,from,to', [
    ['Anne', 1702, 1714],
    ['George I', 1714, 1727],
    ['George II', 1727, 1760],
    ['George III', 1760, 1820],
  ]),
  energy: csv('from,to,twh', [
    ['Coal', 'Power', 40],
    ['Gas', 'Power', 30],
    ['Gas', 'Heat', 25],
    ['Solar', 'Power', 12],
    ['Power', 'Homes', 45],
    ['Power', 'Industry', 37],
    ['Heat', 'Homes', 25],
  ]),
  answers: csv('question,strongly disagree,disagree,neutral,agree,strongly agree', [
    ['Pay', 22, 18, 10, 30, 20],
    ['Hours', 8, 14, 18, 35, 25],
    ['Food', 30, 25, 20, 15, 10],
    ['Rooms', 12, 20, 30, 24, 14],
  ]),
  forecast: csv(
    'day,low,expected,high',
    count(30).map((k) => {
      const middle = 10 + k * 0.3 + noise(k)
      return [day(k), rounded(middle - 1 - k / 12), rounded(middle), rounded(middle + 1 + k / 12)]
    }),
  ),
  trial: csv(
    'dose,mean,deviation',
    count(8).map((k) => [k, rounded(10 + k * 2 + noise(k) * 2), rounded(1 + Math.abs(noise(k + 5)))]),
  ),
}

export interface Example {
  /** A file name, without its extension. */
  name: string
  type: ChartType
  table: keyof typeof tables
  options: ChartOptions
  /** What the chart is for. */
  about: string
}

const of = (
  type: ChartType,
  table: string,
  options: ChartOptions,
  about: string,
  name: string = type,
): Example => ({ name, type, table, options, about })

export const gallery: readonly Example[] = [
  of(
    'line',
    'sales',
    { x: 'month', y: 'Oslo,Bergen,Tromsø' },
    'Change over time. Up to four lines have their names at their ends.',
  ),
  of(
    'line',
    'revenue',
    { x: 'date', y: 'revenue', by: 'city' },
    'A line for each value of a column.',
    'line-by',
  ),
  of(
    'line',
    'revenue',
    { x: 'date', y: 'revenue', facet: 'city' },
    'A small chart for each value of a column.',
    'line-facet',
  ),
  of(
    'line',
    'sales',
    {
      x: 'month',
      y: 'Oslo',
      trend: 'mean:3',
      mark: ['x=2022-06-01:Launch', 'y=60:Goal'],
      band: ['x=2022-09-01,2022-11-01:Closed'],
      subtitle: 'In thousand bottles',
      source: 'City of Oslo',
    },
    'A trend, marks, a band, a subtitle and a source.',
    'line-marks',
  ),
  of(
    'line',
    'revenue',
    { x: 'date', y: 'revenue', by: 'city', highlight: ['Tokyo'], note: ['2023-06-01,5200000:Fair'] },
    'One series among others, which are grey, and a note.',
    'line-highlight',
  ),
  of(
    'line',
    'forecast',
    { x: 'day', y: 'expected', bandOf: 'low,high' },
    'A band around a line.',
    'line-band',
  ),
  of(
    'slope',
    'revenue',
    { x: 'date', y: 'revenue', by: 'city', where: "date = '2022-01-01' or date = '2023-12-01'" },
    'Two moments, and what changed between them.',
  ),
  of(
    'bump',
    'revenue',
    {
      x: 'date',
      y: 'revenue',
      by: 'city',
      where: "date in ('2022-01-01', '2022-07-01', '2023-01-01', '2023-07-01')",
    },
    'Who is first, second and third.',
  ),
  of('step', 'sales', { x: 'month', y: 'Oslo,Bergen' }, 'Values that stay until they change.'),
  of('area', 'sales', { x: 'month', y: 'Oslo,Bergen,Tromsø' }, 'Parts of a whole over time.'),
  of(
    'area',
    'revenue',
    { x: 'date', y: 'revenue', by: 'city', stack: 'percent' },
    'Shares over time.',
    'area-percent',
  ),
  of(
    'area',
    'revenue',
    { x: 'date', y: 'revenue', by: 'city', stack: 'center' },
    'A stream: areas around a middle.',
    'area-center',
  ),
  of(
    'bar',
    'population',
    { x: 'country', y: 'people' },
    'Amounts, the largest first. Bars with long labels are horizontal.',
  ),
  of('bar', 'poll', { x: 'answer', y: 'men,women' }, 'Groups of bars.', 'bar-groups'),
  of(
    'bar',
    'poll',
    { x: 'answer', y: 'men,women', stack: 'normal', labels: true },
    'Bars on each other, with their values.',
    'bar-stack',
  ),
  of(
    'bar',
    'revenue',
    { x: 'date', y: 'revenue', by: 'city', stack: 'percent', per: 'quarter', aggregate: 'sum' },
    'Shares of a sum per quarter.',
    'bar-percent',
  ),
  of('bar', 'sales', { x: 'month', y: 'Oslo', y2: 'Bergen' }, 'A second axis.', 'bar-y2'),
  of(
    'bar',
    'answers',
    { x: 'question', y: 'strongly disagree-strongly agree', stack: 'center', horizontal: true },
    'Answers on both sides of the one in the middle.',
    'bar-center',
  ),
  of('dot', 'fruit', { x: 'fruit', y: 'kg' }, 'Amounts, where bars would be too heavy.'),
  of('lollipop', 'fruit', { x: 'fruit', y: 'kg' }, 'Amounts, with thin lines to zero.'),
  of('range', 'temperatures', { x: 'month', y: 'low,high', unit: '°C' }, 'From one value to another.'),
  of(
    'dumbbell',
    'temperatures',
    { x: 'month', y: 'low,high' },
    'Two values of each, and what is between them.',
  ),
  of('timeline', 'projects', { x: 'project', y: 'start,end', by: 'team' }, 'From one day to another.'),
  of('pyramid', 'ages', { x: 'age', y: 'men,women' }, 'Two groups, back to back.'),
  of('timeline', 'reigns', { x: 'name', y: 'from,to' }, 'From one year to another.', 'timeline-years'),
  of('radar', 'skills', { x: 'skill', y: '2023,2024' }, 'Several numbers of few things.'),
  of('pie', 'fruit', { x: 'fruit', y: 'kg' }, 'Parts of a whole: the six largest, and all others as one.'),
  of('donut', 'fruit', { x: 'fruit', y: 'kg' }, 'The same with a hole.'),
  of('scatter', 'survey', { x: 'age', y: 'score' }, 'How two numbers go together.'),
  of(
    'scatter',
    'survey',
    { x: 'age', y: 'score', animate: 'group' },
    'One group after the other, with a slider.',
    'scatter-animate',
  ),
  of(
    'scatter',
    'trial',
    { x: 'dose', y: 'mean', error: 'deviation', trend: 'linear' },
    'Error bars and a straight trend.',
    'scatter-error',
  ),
  of(
    'scatter',
    'wind',
    { x: 'lon', y: 'lat', angle: 'direction', size: 'speed' },
    'Arrows: a direction and a size at each point.',
    'scatter-arrows',
  ),
  of(
    'scatter',
    'survey',
    { x: 'age', y: 'score', symbol: 'group' },
    'A symbol for each value of a column.',
    'scatter-symbol',
  ),
  of('hexbin', 'survey', { x: 'age', y: 'score' }, 'Many points, counted in hexagons.'),
  of('density', 'survey', { x: 'score', by: 'group' }, 'How numbers are distributed, as curves.'),
  of('ecdf', 'survey', { x: 'score', by: 'group' }, 'How many values are at most as large.'),
  of(
    'ridgeline',
    'survey',
    { x: 'group', y: 'score' },
    'The shape of each distribution, one above the other.',
  ),
  of('histogram', 'survey', { x: 'score' }, 'How numbers are distributed.'),
  of('histogram', 'survey', { x: 'score', by: 'group' }, 'The same for each group.', 'histogram-by'),
  of('box', 'survey', { x: 'group', y: 'score' }, 'Median, quartiles and outliers.'),
  of('violin', 'survey', { x: 'group', y: 'score' }, 'The shape of each distribution.'),
  of('strip', 'survey', { x: 'group', y: 'score' }, 'Each value as a point.'),
  of('histogram2d', 'survey', { x: 'age', y: 'score' }, 'How often two numbers go together.'),
  of('heatmap', 'revenue', { x: 'date', y: 'city', color: 'revenue' }, 'A number for each pair.'),
  of('calendar', 'visits', { x: 'day', y: 'visits', scale: 'steps' }, 'A number for each day.'),
  of('contour', 'wave', { x: 'x', y: 'y', color: 'height' }, 'Lines of equal height.'),
  of('surface', 'wave', { x: 'x', y: 'y', z: 'height' }, 'Heights in space.'),
  of('scatter3d', 'cars', { x: 'power', y: 'weight', z: 'mpg' }, 'Three numbers.'),
  of('parallel', 'cars', { y: 'power,weight,mpg', color: 'mpg' }, 'Many numbers: a line for each row.'),
  of('splom', 'cars', { y: 'power,weight,mpg' }, 'How several numbers go together, each with each.'),
  of('treemap', 'regions', { x: 'region', parent: 'parent', y: 'value' }, 'Parts of parts.'),
  of(
    'sunburst',
    'regions',
    { x: 'region', parent: 'parent', y: 'value' },
    'Parts of parts, from the center.',
  ),
  of('sankey', 'energy', { x: 'from', to: 'to', y: 'twh' }, 'What flows from where to where.'),
  of('rose', 'gusts', { x: 'direction', y: 'speed' }, 'How often there is wind of each direction and speed.'),
  of('funnel', 'fruit', { x: 'fruit', y: 'kg' }, 'What is left after each step.'),
  of('waterfall', 'cash', { x: 'step', y: 'amount' }, 'What adds up to a result.'),
  of('candlestick', 'prices', { x: 'day', y: 'open,high,low,close' }, 'Prices of each day.'),
  of('ohlc', 'prices', { x: 'day', y: 'open,high,low,close' }, 'The same as lines.'),
  of('map', 'places', { size: 'visitors', text: 'place' }, 'Places by latitude and longitude.'),
  of('choropleth', 'states', { x: 'state', y: 'rate' }, 'Countries or US states by their codes.'),
  of('table', 'cars', { y: 'model,power,mpg', where: 'power > 200' }, 'Rows as they are.'),
  of('indicator', 'sales', { y: 'Oslo', aggregate: 'sum', unit: 't' }, 'One number.'),
]
