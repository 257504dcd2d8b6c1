import type { ComponentChild } from 'preact'
import { useLoaded } from '../data.ts'
import { duration, exactNumber, exactTime, money } from '../format.ts'
import { endKinds, type KeptRequest } from '../kept-request.ts'
import { linkTo } from '../route.ts'
import { api } from '../session.ts'
import * as texts from '../texts/requests.ts'
import { Await, State, Text } from '../ui/basics.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Facts } from '../ui/sections.tsx'

/** One request, whole: who asked, where it went and why, what it cost, and how it ended. */
export function OneRequest({ id }: { id: string }) {
  const { state, reload } = useLoaded(async () => {
    const [{ request }, { keys }, { groups }] = await Promise.all([
      api.value.usage.request(id),
      api.value.keys.list({ values: 'none' }),
      api.value.groups.list(),
    ])
    return { request, names: new Map([...keys, ...groups].map((one) => [one.id, one.name])) }
  })
  return (
    <>
      <p>
        <a href={linkTo('requests')}>← {texts.back}</a>
      </p>
      <h2>{texts.title(id)}</h2>
      <Await of={state.value} onRetry={reload}>
        {({ request, names }) => (
          <>
            <RequestFacts request={request} names={names} />
            <section aria-labelledby="attempts">
              <h3 id="attempts">{texts.attempts}</h3>
              <Attempts request={request} />
              <Skipped request={request} />
            </section>
            <p class="hint">{texts.noPrompts}</p>
            <CopyButton text={JSON.stringify(request, null, 2)} label={texts.copy} />
          </>
        )}
      </Await>
    </>
  )
}

function RequestFacts({ request, names }: { request: KeptRequest; names: ReadonlyMap<string, string> }) {
  const { tokens, costUsd, costSource, error, reason, warnings = [] } = request
  const named = (id: string | undefined) => (id === undefined ? undefined : (names.get(id) ?? id))
  const facts: Array<[string, ComponentChild]> = [
    [texts.ended, <State kind={endKinds[request.end]}>{texts.ends[request.end]}</State>],
    [texts.asked, request.model],
    [texts.path, `${request.endpoint} (${request.format})`],
    [texts.key, named(request.keyId)],
    [texts.group, named(request.groupId)],
    [texts.user, request.user],
    [texts.came, exactTime(request.time)],
    [texts.status, `${request.status}`],
    [texts.why, error === undefined ? undefined : `${error.toLowerCase()}: ${reason ?? ''}`],
    [texts.firstByte, request.firstByteMs === undefined ? undefined : duration(request.firstByteMs)],
    [
      texts.tokens,
      tokens &&
        texts.tokensOf(
          exactNumber(tokens.input),
          exactNumber(tokens.cacheRead),
          exactNumber(tokens.output),
          exactNumber(tokens.reasoning),
        ),
    ],
    [
      texts.cost,
      costUsd === undefined
        ? tokens
          ? texts.unknownCost
          : undefined
        : `${money(costUsd)}${costSource ? `, ${texts.sources[costSource]}` : ''}`,
    ],
    [texts.warnings, warnings.length > 0 ? warnings.join(', ') : undefined],
  ]
  return <Facts of={facts} />
}

/** The attempts on one time axis. */
function Attempts({ request: { attempts, durationMs } }: { request: KeptRequest }) {
  if (attempts.length === 0) return <p>{texts.noAttempts}</p>
  const total = Math.max(1, durationMs)
  return (
    <>
      <p class="hint">{texts.axis(duration(durationMs))}</p>
      <ol class="attempts">
        {attempts.map((attempt, at) => {
          const isAnswer = attempt.outcome === 'answered'
          return (
            <li key={at}>
              <div>
                <Text of={`${attempt.provider}/${attempt.model}`} />{' '}
                <State
                  kind={
                    isAnswer ? 'good' : attempt.outcome === 'cancelled' || attempt.outcome === 'outrun' ? 'off' : 'bad'
                  }
                >
                  {attempt.status} {isAnswer ? '' : attempt.outcome}
                </State>{' '}
                <span class="hint">{duration(attempt.durationMs)}</span>
              </div>
              <svg class="axis" viewBox="0 0 1000 14" preserveAspectRatio="none" aria-hidden="true">
                <rect class="track" width="1000" height="14" />
                <rect
                  class={isAnswer ? 'series s4' : 'series s5'}
                  x={(attempt.startMs / total) * 1000}
                  width={Math.max(4, (attempt.durationMs / total) * 1000)}
                  height="14"
                />
                {isAnswer && (
                  <rect
                    class="series s4 faded"
                    x={((attempt.startMs + attempt.durationMs) / total) * 1000}
                    width={Math.max(0, 1000 - ((attempt.startMs + attempt.durationMs) / total) * 1000)}
                    height="14"
                  />
                )}
              </svg>
              {attempt.message !== undefined && (
                <p class="hint">
                  <Text of={attempt.message} />
                </p>
              )}
            </li>
          )
        })}
      </ol>
    </>
  )
}

function Skipped({ request: { skipped = [] } }: { request: KeptRequest }) {
  if (skipped.length === 0) return null
  return (
    <>
      <h4>{texts.skipped}</h4>
      <ul>
        {skipped.map((skip, at) => (
          <li key={at}>
            <Text
              of={texts.skippedFor('entry' in skip ? skip.entry : `${skip.provider}/${skip.model}`, skip.skipped)}
            />
          </li>
        ))}
      </ul>
    </>
  )
}
