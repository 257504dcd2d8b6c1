/* Draws src/assets/architecture.svg, the image of a request's path: node docs/draw-architecture.mjs */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const WIDTH = 420
const LEFT = 36
const BOX = { width: WIDTH - LEFT - 12, height: 54, gap: 16 }
const TOP = 12

/** The stations from top to bottom. `tags` name the options and steps in which your code runs there, and what happens to limits. */
const STATIONS = [
  { title: 'Request', detail: 'In OpenAI, Anthropic, Gemini, or AI SDK format', isOutside: true },
  { title: 'Key or identity', detail: 'API key, signed-in user, or token; permissions', tags: ['identify'] },
  { title: 'Limits', detail: 'Request rates and concurrent requests', tags: ['limit: reserve'] },
  { title: 'Guards', detail: 'Check, mask, or reject the prompt', tags: ['aroundCall'] },
  { title: 'Route', detail: 'Alias or combo → strategy → healthy target' },
  {
    title: 'Translate',
    detail: 'Reserve its tokens and cost, write its format',
    tags: ['aroundAttempt', 'limit: reserve'],
  },
  { title: 'Attempt', detail: 'Call OpenAI, Bedrock, Ollama, and 40 more' },
  { title: 'Response', detail: 'Translate back, run guards, and stream' },
  { title: 'Settle', detail: 'Record usage and cost, call hooks', tags: ['events', 'limit: settle'] },
]
const RETRY = { from: 'Attempt', to: 'Route', text: 'failed: next target' }

/** The colors of the dashboard. They follow the color scheme of the page, not only that of the system. */
const STYLE = `
svg { --back: #fff; --box: #f4f6f7; --line: #c3ccd2; --text: #16202a; --faint: #55636e; --accent: #0e5a73; --code: #e1eef2; --warn: #8a4b00; --limit: #fbeeda }
@media (prefers-color-scheme: dark) {
  svg { --back: #14181b; --box: #1d2327; --line: #46525b; --text: #e8edf0; --faint: #a3b1bb; --accent: #67c7e3; --code: #12323d; --warn: #f2b45c; --limit: #3a2b12 }
}
.back { fill: var(--back) } .box { fill: var(--box); stroke: var(--line) } .outside { fill: none; stroke-dasharray: 5 4 }
text { font: 13.5px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; fill: var(--faint) } .title { font-size: 16px; font-weight: 650; fill: var(--text) }
.tag { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; text-anchor: middle }
.code { fill: var(--accent) } rect.code { fill: var(--code) } .limit { fill: var(--warn) } rect.limit { fill: var(--limit) }
.arrow { stroke: var(--accent); stroke-width: 2; fill: none; marker-end: url(#tip) } .retry { stroke-dasharray: 5 4 }
#tip path, .note { fill: var(--accent) } .note { font-size: 12.5px; text-anchor: middle }
`

const top = (index) => TOP + index * (BOX.height + BOX.gap)
const middle = (title) => top(STATIONS.findIndex((station) => station.title === title)) + BOX.height / 2

export function drawArchitecture() {
  const height = top(STATIONS.length) - BOX.gap + TOP
  const [from, to] = [middle(RETRY.from), middle(RETRY.to)]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">
<title id="title">The path of a request: ${STATIONS.map(({ title }) => title.toLowerCase()).join(', ')}</title>
<style>${STYLE}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" markerHeight="5" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>
<rect class="back" width="${WIDTH}" height="${height}" rx="10"/>
${STATIONS.flatMap(drawStation).join('\n')}
<path class="arrow retry" d="M${LEFT} ${from}H22a8 8 0 0 1-8-8V${to + 8}a8 8 0 0 1 8-8H${LEFT - 2}"/>
<text class="note" transform="translate(29 ${(from + to) / 2}) rotate(-90)">${RETRY.text}</text>
</svg>
`
}

function drawStation({ title, detail, tags = [], isOutside }, index) {
  const y = top(index)
  const center = LEFT + BOX.width / 2
  let right = LEFT + BOX.width
  return [
    ...(index > 0 ? [`<path class="arrow" d="M${center} ${y - BOX.gap}V${y - 2}"/>`] : []),
    `<rect class="box${isOutside ? ' outside' : ''}" x="${LEFT}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="8"/>`,
    `<text class="title" x="${LEFT + 14}" y="${y + 23}">${title}</text>`,
    `<text x="${LEFT + 14}" y="${y + 42}">${detail}</text>`,
    ...tags.flatMap((tag) => {
      const width = tag.length * 7.2 + 16
      const kind = tag.startsWith('limit') ? 'limit' : 'code'
      right -= width + 8
      return [
        `<rect class="${kind}" x="${right.toFixed(1)}" y="${y + 8}" width="${width.toFixed(1)}" height="20" rx="10"/>`,
        `<text class="tag ${kind}" x="${(right + width / 2).toFixed(1)}" y="${y + 22}">${tag}</text>`,
      ]
    }),
  ]
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(new URL('src/assets/architecture.svg', import.meta.url), drawArchitecture())
