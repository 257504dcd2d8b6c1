import type { ComponentChild } from 'preact'
import { useLoaded, useSignal } from '../data.ts'
import { clockTime, duration, exactNumber, hourOf, money, percent, shortNumber, shown } from '../format.ts'
import { amountOf, limitWords } from '../limits.ts'
import { linkTo } from '../route.ts'
import { api } from '../session.ts'
import * as frame from '../texts/frame.ts'
import * as texts from '../texts/overview.ts'
import { Await, Button, State, Text } from '../ui/basics.tsx'
import { Chart } from '../ui/chart.tsx'
import { Cards, Section } from '../ui/sections.tsx'

const HOUR = 3_600_000

type Loaded = Awaited<ReturnType<typeof load>>
type Summary = NonNullable<Loaded['usage']>

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
          {loaded.usage ? (
            <>
              <Figures {...loaded.usage} />
              <Chart {...chartOf(loaded.usage)} />
            </>
          ) : (
            <p class="notice">{texts.notKept}</p>
          )}
          <Attention {...loaded} />
          <Ill {...loaded} />
          <Failures {...loaded} />
        </>
      )}
    </Await>
  )
}

const load = () => api.value.overview()

const SKIPPED = 'signalbox.first-steps'

/** What there is to do before anything can be answered. */
function FirstSteps({ counts: { connections, keys }, usage }: Loaded) {
  const isSkipped = useSignal(localStorage.getItem(SKIPPED) !== null)
  const steps = [
    { text: texts.firstConnect, isDone: connections > 0, link: linkTo('targets') },
    { text: texts.firstKey, isDone: keys > 0, link: linkTo('keys') },
    { text: texts.firstAsk, isDone: (usage?.totals.requests ?? 0) > 0, link: linkTo('playground') },
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

/** The figures of the last 24 hours, and how they were in the 24 before. */
function Figures({ totals, before }: Summary) {
  const former = before?.totals
  const { tokens, firstByteMs } = totals
  const figures = [
    [texts.figureRequests, exactNumber(totals.requests), former && texts.before(exactNumber(former.requests))],
    [texts.figureFailed, shareOf(totals), former && texts.before(shareOf(former))],
    [texts.figureCost, money(totals.costUsd), former && texts.before(money(former.costUsd))],
    [texts.figureTokens, `${shortNumber(tokens.input)} / ${shortNumber(tokens.output)}`],
    [
      texts.figureFirstWord,
      firstByteMs ? duration(firstByteMs.p50) : '–',
      firstByteMs && texts.slowest(duration(firstByteMs.p95)),
    ],
  ] as const
  return <Cards of={figures} />
}

const shareOf = ({ failed, requests }: Summary['totals']) => percent(failed / Math.max(1, requests))

function chartOf({ from, rows }: Summary) {
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

function Attention({ usage, damaged, nearLimits = [], requireApiKey, mirrorError }: Loaded) {
  const { unpriced, refused } = usage?.totals ?? { unpriced: 0, refused: 0 }
  const items = [
    ...(requireApiKey ? [] : [{ text: texts.open, link: linkTo('settings') }]),
    ...(refused > 0 ? [{ text: texts.refused(refused), link: linkTo('requests', '', { end: 'refused' }) }] : []),
    ...nearLimits.map((limit) => ({ text: nearText(limit), link: holderLink(limit) })),
    ...(unpriced > 0 ? [{ text: texts.unpriced(unpriced), link: linkTo('models') }] : []),
    ...(damaged > 0 ? [{ text: texts.damaged(damaged), link: linkTo('settings') }] : []),
    ...(mirrorError === undefined ? [] : [{ text: texts.mirror(mirrorError), link: linkTo('cloud') }]),
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

type NearLimit = NonNullable<Loaded['nearLimits']>[number]

function nearText({ name, unit, window, limit, remaining }: NearLimit): string {
  const holder = name === undefined ? texts.gateway : `"${shown(name)}"`
  const [used, most] = [amountOf(unit, Math.max(0, limit - remaining)), amountOf(unit, limit)]
  return texts.near(holder, used, `${most} ${limitWords(unit, window)}`)
}

function holderLink({ scope, id = '' }: NearLimit): string {
  if (scope === 'gateway') return linkTo('settings')
  return linkTo('keys', '', scope === 'key' ? { q: id } : { group: id })
}

function Ill({ health: ill }: Loaded) {
  return (
    <List title={texts.ill} empty={texts.well}>
      {ill.map(({ level, provider, model, connectionId, combo, state, reason, message }) => (
        <li key={[level, connectionId, model, combo].join(' ')}>
          <State kind={state === 'cooling' ? 'bad' : 'warn'}>{frame.health[state]}</State>{' '}
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
function Failures({ failures }: Loaded) {
  if (failures.length === 0) return null
  return (
    <List title={texts.latest}>
      {failures.map(({ id, time, status, model, error, reason }) => (
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
