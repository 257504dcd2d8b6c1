import { useLoaded, useSignal } from '../data.ts'
import { clockTime, duration, exactNumber, hourOf, money, percent, shortNumber } from '../format.ts'
import { linkTo } from '../route.ts'
import { api } from '../session.ts'
import { texts as common } from '../texts/frame.ts'
import { texts } from '../texts/overview.ts'
import { Await, Button, State, Text } from '../ui/basics.tsx'
import { Chart } from '../ui/chart.tsx'

const HOUR = 3_600_000

type Loaded = Awaited<ReturnType<typeof load>>

/** The figures of the last 24 hours, failing targets, and what the operator should look at. */
export default function Overview() {
  const { state, reload } = useLoaded(load, {
    everyMs: 30_000,
    on: ['finished', 'health', 'changed', 'lost'],
    restMs: 3_000,
  })
  return (
    <Await of={state.value} onRetry={reload}>
      {(loaded) => (
        <>
          <FirstSteps {...loaded} />
          <Figures {...loaded} />
          <Chart {...chartOf(loaded)} />
          <Attention {...loaded} />
          <Ill {...loaded} />
          <Failures {...loaded} />
        </>
      )}
    </Await>
  )
}

async function load() {
  const { usage, health, connections, keys, settings, cloud } = api.value
  const to = new Date()
  const from = new Date(Math.floor(to.getTime() / HOUR) * HOUR - 23 * HOUR).toISOString()
  const [summary, { requests }, { health: ill, damaged }, { connections: connected }, { keys: made }, set, mirror] =
    await Promise.all([
      usage.summary({ from, by: 'hour' }),
      usage.requests({ limit: 100 }),
      health.list(),
      connections.list(),
      keys.list({ values: 'none', limit: 1 }),
      settings.get(),
      cloud.get(),
    ])
  return {
    from,
    summary,
    requests,
    ill,
    damaged,
    connections: connected.length,
    keys: made.length,
    settings: set,
    mirror,
  }
}

const SKIPPED = 'signalbox.first-steps'

/** What there is to do before anything can be answered. */
function FirstSteps({ connections, keys, summary }: Loaded) {
  const isSkipped = useSignal(localStorage.getItem(SKIPPED) !== null)
  const steps = [
    { text: texts.first.connect, isDone: connections > 0, link: linkTo('targets') },
    { text: texts.first.key, isDone: keys > 0, link: linkTo('keys') },
    { text: texts.first.ask, isDone: summary.totals.requests > 0, link: linkTo('playground') },
  ]
  if (isSkipped.value || steps.every(({ isDone }) => isDone)) return null
  return (
    <section aria-labelledby="first" class="notice">
      <h2 id="first">{texts.first.title}</h2>
      <ol>
        {steps.map(({ text, isDone, link }) => (
          <li key={text}>
            <a href={link}>{text}</a> {isDone && <State kind="good">{texts.first.done}</State>}
          </li>
        ))}
      </ol>
      <Button
        onClick={() => {
          localStorage.setItem(SKIPPED, '1')
          isSkipped.value = true
        }}
      >
        {texts.first.skip}
      </Button>
    </section>
  )
}

function Figures({ summary: { totals }, requests }: Loaded) {
  const { tokens } = totals
  const first = requests.flatMap(({ firstByteMs }) => firstByteMs ?? []).sort((one, other) => one - other)
  const middle = first[Math.floor(first.length / 2)]
  const figures = [
    [texts.figures.requests, exactNumber(totals.requests)],
    [texts.figures.failed, percent(totals.failed / Math.max(1, totals.requests))],
    [texts.figures.cost, money(totals.costUsd)],
    [texts.figures.tokens, `${shortNumber(tokens.input)} / ${shortNumber(tokens.output)}`],
    [texts.figures.firstWord, middle === undefined ? '–' : duration(middle)],
  ]
  return (
    <ul class="cards">
      {figures.map(([label, value]) => (
        <li key={label} class="card">
          <div class="figure">{value}</div>
          <div class="label">{label}</div>
        </li>
      ))}
    </ul>
  )
}

function chartOf({ from, summary: { rows } }: Loaded) {
  const hours = Array.from({ length: 24 }, (_, at) => Date.parse(from) + at * HOUR)
  const row = (at: number) => rows.find(({ hour }) => hour !== undefined && Date.parse(hour) === at)
  const failed = hours.map((at) => row(at)?.failed ?? 0)
  const answered = hours.map((at, nth) => (row(at)?.requests ?? 0) - (failed[nth] ?? 0))
  return {
    title: texts.chart,
    labels: hours.map(hourOf),
    parts: [
      { name: texts.answered, values: answered },
      { name: texts.failedPart, values: failed },
    ],
    format: shortNumber,
  }
}

function Attention({ summary, damaged, settings, mirror }: Loaded) {
  const { unpriced, refused } = summary.totals
  const items = [
    ...(settings.requireApiKey ? [] : [{ text: texts.open, link: linkTo('settings') }]),
    ...(refused > 0 ? [{ text: texts.refused(refused), link: linkTo('requests', '', { end: 'refused' }) }] : []),
    ...(unpriced > 0 ? [{ text: texts.unpriced(unpriced), link: linkTo('models') }] : []),
    ...(damaged.length > 0 ? [{ text: texts.damaged(damaged.length), link: linkTo('settings') }] : []),
    ...(mirror.cloudEnabled && mirror.lastError !== null
      ? [{ text: texts.mirror(mirror.lastError), link: linkTo('cloud') }]
      : []),
  ]
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">{texts.attention}</h2>
      {items.length === 0 ? (
        <p>
          <State kind="good">{texts.nothing}</State>
        </p>
      ) : (
        <ul>
          {items.map(({ text, link }) => (
            <li key={text}>
              <State kind="warn">{''}</State> <a href={link}>{text}</a>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Ill({ ill }: Loaded) {
  return (
    <section aria-labelledby="ill">
      <h2 id="ill">{texts.ill}</h2>
      {ill.length === 0 ? (
        <p>
          <State kind="good">{texts.well}</State>
        </p>
      ) : (
        <ul>
          {ill.map(({ level, provider, model, connectionId, combo, state, reason, message }) => (
            <li key={[level, connectionId, model, combo].join(' ')}>
              <State kind={state === 'cooling' ? 'bad' : 'warn'}>{common.health[state]}</State>{' '}
              <a href={linkTo('targets')}>
                <Text of={[provider, model].filter(Boolean).join('/')} />
              </a>{' '}
              {reason}: <Text of={message} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** The latest requests that failed, each with why. */
function Failures({ requests }: Loaded) {
  const failed = requests.filter(({ end }) => end === 'failed' || end === 'cut' || end === 'refused').slice(0, 5)
  if (failed.length === 0) return null
  return (
    <section aria-labelledby="failures">
      <h2 id="failures">{texts.latest}</h2>
      <ul>
        {failed.map(({ id, time, status, model, error, reason }) => (
          <li key={id}>
            <a href={linkTo('requests', id)}>{clockTime(time)}</a> {status} <Text of={model} />{' '}
            <span class="hint">
              <Text of={reason ?? error?.toLowerCase()} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
