import type { ComponentChild } from 'preact'
import { useLoaded, useSignal } from '../data.ts'
import { clockTime, duration, exactNumber, hourOf, money, percent, shortNumber } from '../format.ts'
import { linkTo } from '../route.ts'
import { api } from '../session.ts'
import { health } from '../texts/frame.ts'
import * as texts from '../texts/overview.ts'
import { Await, Button, Cards, Section, State, Text } from '../ui/basics.tsx'
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
    { text: texts.firstConnect, isDone: connections > 0, link: linkTo('targets') },
    { text: texts.firstKey, isDone: keys > 0, link: linkTo('keys') },
    { text: texts.firstAsk, isDone: summary.totals.requests > 0, link: linkTo('playground') },
  ]
  if (isSkipped.value || steps.every(({ isDone }) => isDone)) return null
  return (
    <section aria-labelledby="first" class="notice">
      <h2 id="first">{texts.firstTitle}</h2>
      <ol>
        {steps.map(({ text, isDone, link }) => (
          <li key={text}>
            <a href={link}>{text}</a> {isDone && <State kind="good">{texts.firstDone}</State>}
          </li>
        ))}
      </ol>
      <Button
        onClick={() => {
          localStorage.setItem(SKIPPED, '1')
          isSkipped.value = true
        }}
      >
        {texts.firstSkip}
      </Button>
    </section>
  )
}

function Figures({ summary: { totals }, requests }: Loaded) {
  const { tokens } = totals
  const first = requests.flatMap(({ firstByteMs }) => firstByteMs ?? []).sort((one, other) => one - other)
  const middle = first[Math.floor(first.length / 2)]
  const figures = [
    [texts.figureRequests, exactNumber(totals.requests)],
    [texts.figureFailed, percent(totals.failed / Math.max(1, totals.requests))],
    [texts.figureCost, money(totals.costUsd)],
    [texts.figureTokens, `${shortNumber(tokens.input)} / ${shortNumber(tokens.output)}`],
    [texts.figureFirstWord, middle === undefined ? '–' : duration(middle)],
  ] as const
  return <Cards of={figures} />
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

/** What there is of something, or a word that there is nothing of it. */
const List = ({ title, empty, children }: { title: string; empty?: string; children: ComponentChild[] }) => (
  <Section title={title}>
    {children.length > 0 ? <ul>{children}</ul> : empty !== undefined && <State kind="good">{empty}</State>}
  </Section>
)

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
    <List title={texts.attention} empty={texts.nothing}>
      {items.map(({ text, link }) => (
        <li key={text}>
          <State kind="warn">{''}</State> <a href={link}>{text}</a>
        </li>
      ))}
    </List>
  )
}

function Ill({ ill }: Loaded) {
  return (
    <List title={texts.ill} empty={texts.well}>
      {ill.map(({ level, provider, model, connectionId, combo, state, reason, message }) => (
        <li key={[level, connectionId, model, combo].join(' ')}>
          <State kind={state === 'cooling' ? 'bad' : 'warn'}>{health[state]}</State>{' '}
          <a href={linkTo('targets')}>
            <Text of={[provider, model].filter(Boolean).join('/')} />
          </a>{' '}
          {reason}: <Text of={message} />
        </li>
      ))}
    </List>
  )
}

/** The latest requests that failed, each with why. */
function Failures({ requests }: Loaded) {
  const failed = requests.filter(({ end }) => end === 'failed' || end === 'cut' || end === 'refused').slice(0, 5)
  if (failed.length === 0) return null
  return (
    <List title={texts.latest}>
      {failed.map(({ id, time, status, model, error, reason }) => (
        <li key={id}>
          <a href={linkTo('requests', id)}>{clockTime(time)}</a> {status} <Text of={model} />{' '}
          <span class="hint">
            <Text of={reason ?? error?.toLowerCase()} />
          </span>
        </li>
      ))}
    </List>
  )
}
