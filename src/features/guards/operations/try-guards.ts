import type { Exchange, Reply, UpstreamFetch } from '../../../lib/exchange.ts'
import type { NewGuard } from '../../../types/records/guard-fields.ts'
import type { Clock } from '../../../types.ts'
import { createModelCaller } from '../call-model.ts'
import type { Guard, GuardedRequest, GuardPart } from '../guard.ts'
import { createGuard } from '../named-guards.ts'
import { GuardRun, type VerdictRecord } from '../run-guards.ts'

/** Text to check with stored guards, an unsaved guard, or both. */
export interface GuardTrial {
  text: string
  guards?: string[]
  guard?: NewGuard
  /** Whether to check the text as part of a request (the default) or of a response. */
  stage?: 'request' | 'answer'
}

export interface GuardTestResult {
  /** One verdict per guard, in order. Each guard checks the text as changed by the previous ones. */
  verdicts: TestedGuard[]
  /** The text with all guards' changes. */
  text: string
}

/** A guard's verdict. */
export interface TestedGuard {
  name: string
  verdict: VerdictRecord['verdict']
  category?: string
  /** How long the check took, in ms. */
  ms: number
  /** Why the guard failed. */
  error?: string
}

/** Maximum length of the text to check, in characters. */
export const MAX_TEST_LENGTH = 100_000

interface TestDependencies {
  clock: Clock
  infoSources: { basePath: string }
  /** Calls the services that guards use. */
  fetch: UpstreamFetch
  /** Serves a model request from this process. */
  serve(exchange: Exchange): Promise<Reply | undefined>
  /** Rejects with `NOT_FOUND` if there is no such guard. */
  findGuard(name: string): Promise<Guard>
}

export function createGuardTester({ clock, infoSources, fetch, serve, findGuard }: TestDependencies) {
  async function tryGuard(guard: Guard, text: string, stage: 'request' | 'answer') {
    const startedAt = clock.now()
    let failure: unknown
    const request = TEST_REQUEST
    const run = new GuardRun([guard], {
      ...{ request, clock, fetch, signal: new AbortController().signal },
      onError: (error) => {
        failure = error
      },
      callModel: createModelCaller({ basePath: infoSources.basePath, serve, clientExchange: {} }),
    })
    const part: GuardPart = {
      ...{ id: 'text', kind: 'text', text, isOlder: false },
      role: stage === 'request' ? 'user' : 'assistant',
    }
    const isChecked = run.getGuards(stage).length > 0
    const decision = isChecked
      ? await run.check({ parts: [part], stage, final: true }).catch(() => undefined)
      : undefined
    const { verdict = 'pass', category } = run.verdicts[0] ?? {}
    const cause = failure instanceof Error && failure.cause instanceof Error ? failure.cause : failure
    const testedGuard: TestedGuard = {
      ...{ name: guard.name, verdict },
      ...(category !== undefined && { category }),
      ms: clock.now() - startedAt,
      ...(failure !== undefined && { error: cause instanceof Error ? cause.message : String(cause) }),
    }
    return { testedGuard, text: (decision?.kind === 'passed' && decision.texts.get(part.id)) || text }
  }

  return {
    async test({ text, guards = [], guard, stage = 'request' }: GuardTrial): Promise<GuardTestResult> {
      const namedGuards = await Promise.all(guards.map(findGuard))
      const verdicts: TestedGuard[] = []
      let currentText = text
      for (const namedGuard of [...namedGuards, ...(guard ? [await createGuard(guard)] : [])]) {
        const { testedGuard, text: changedText } = await tryGuard(namedGuard, currentText, stage)
        verdicts.push(testedGuard)
        currentText = changedText
      }
      return { verdicts, text: currentText }
    },
  }
}

const TEST_REQUEST: GuardedRequest = {
  ...{ id: 'test', path: '', model: '', format: 'openai-chat', kind: 'llm', stream: false },
  ...{ key: undefined, account: undefined },
}
