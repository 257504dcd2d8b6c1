import { type GatewayError, gatewayError } from '../../errors.ts'
import { runWithDeadline } from '../../lib/deadline.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Clock } from '../../types.ts'
import { isCallPart } from './called-tools.ts'
import type { Guard, GuardChange, GuardContext, GuardedRequest, GuardPart, GuardTexts, GuardVerdict } from './guard.ts'
import { checksCalls, restoresMaskedValues } from './kinds/finding-guard.ts'
import type { ReadPart } from './read-parts.ts'
import { getVerdictCache } from './verdict-memory.ts'

/** The guards' combined decision. */
export type GuardDecision =
  /** The new text of each changed part, by part ID. */
  | { readonly kind: 'passed'; readonly texts: ReadonlyMap<string, string> }
  | {
      readonly kind: 'refused'
      readonly guard: Guard
      readonly category: string | undefined
      readonly ids?: readonly string[]
    }
  | { readonly kind: 'answered'; readonly guard: Guard; readonly text: string }

/** A decision that rejects content. */
export type RejectionDecision = Extract<GuardDecision, { kind: 'refused' }>

/** A guard's verdict, for the header and for records. Never contains the checked text. */
export interface VerdictRecord {
  readonly name: string
  readonly stage: GuardTexts['stage']
  readonly verdict: 'pass' | 'change' | 'refuse' | 'answer' | 'failed' | 'failed-open'
  readonly category?: string
  readonly isWatched?: true
}

/** How much a guard checked in a stage, and how long it took. */
interface GuardCheck {
  readonly name: string
  readonly stage: GuardTexts['stage']
  parts: number
  ms: number
}

interface RunDependencies {
  request: GuardedRequest
  clock: Clock
  /** Aborts when the client disconnects. */
  signal: AbortSignal
  onError(error: unknown): void
  fetch: GuardContext['fetch']
  /** Calls one of this gateway's model endpoints. */
  callModel(path: string, body: JsonObject, signal: AbortSignal): Promise<JsonObject>
}

/** Runs the guards for one request and its response. */
export class GuardRun {
  readonly verdicts: VerdictRecord[] = []
  /** Each guard's checks, by stage and name. */
  readonly checks = new Map<string, GuardCheck>()
  /** The longest time that a stream event has been held back, or `undefined` if the response isn't a stream. */
  heldMs: number | undefined = undefined
  readonly #guards: readonly Guard[]
  readonly #deps: RunDependencies
  readonly #memory = new Map<unknown, unknown>()

  constructor(guards: readonly Guard[], deps: RunDependencies) {
    this.#guards = guards
    this.#deps = deps
  }

  /** Returns the guards for a stage. */
  getGuards(stage: GuardTexts['stage']): readonly Guard[] {
    return this.#guards.filter(({ on = STAGES }) => on.includes(stage))
  }

  /**
   * Checks text: first sequentially with the guards that may change it, then concurrently with all others. The first rejection cancels all other
   * checks. Rejects with `GUARD_UNAVAILABLE` if a guard fails.
   */
  async check(texts: GuardTexts, guards: readonly Guard[] = this.getGuards(texts.stage)): Promise<GuardDecision> {
    const changedTexts = new Map<string, string>()
    let { parts } = texts
    for (const guard of guards.filter(({ changes }) => changes)) {
      const decision = await this.#run(guard, { ...texts, parts }, this.#deps.signal)
      if (decision.kind !== 'passed') return decision
      for (const [id, text] of decision.texts) changedTexts.set(id, text)
      if (decision.texts.size > 0)
        parts = parts.map((part) => ({ ...part, text: decision.texts.get(part.id) ?? part.text }))
    }
    const readOnlyGuards = guards.filter(({ changes }) => !changes)
    const rejection = await this.#runConcurrently(readOnlyGuards, { ...texts, parts })
    return rejection ?? { kind: 'passed', texts: changedTexts }
  }

  async #runConcurrently(guards: readonly Guard[], texts: GuardTexts): Promise<GuardDecision | undefined> {
    const [onlyGuard] = guards
    if (guards.length <= 1) {
      const decision = onlyGuard && (await this.#run(onlyGuard, texts, this.#deps.signal))
      return decision?.kind === 'passed' ? undefined : decision
    }
    const abortController = new AbortController()
    const signal = AbortSignal.any([abortController.signal, this.#deps.signal])
    try {
      return await new Promise((resolve, reject) => {
        const checks = guards.map(async (guard) => {
          const decision = await this.#run(guard, texts, signal)
          if (decision.kind !== 'passed') resolve(decision)
        })
        Promise.all(checks).then(() => resolve(undefined), reject)
      })
    } finally {
      abortController.abort()
    }
  }

  async #run(guard: Guard, texts: GuardTexts, signal: AbortSignal): Promise<GuardDecision> {
    const checkedParts = texts.parts.filter((part) => part.text !== '' && (!isCallPart(part) || checksCalls(guard)))
    if (checkedParts.length === 0) return PASSED_DECISION
    const { name, onError = 'refuse', mode } = guard
    const startedAt = this.#deps.clock.now()
    try {
      const verdict = await this.#checkUncached(guard, { ...texts, parts: checkedParts }, signal)
      return this.#decide(guard, verdict, checkedParts, texts.stage)
    } catch (error) {
      if (signal.aborted) throw signal.reason ?? error
      this.#deps.onError(createGuardError(name, error))
      const failsOpen = onError === 'pass' || mode === 'watch'
      this.verdicts.push({ name, stage: texts.stage, verdict: failsOpen ? 'failed-open' : 'failed' })
      if (failsOpen) return PASSED_DECISION
      throw createGuardError(name, error)
    } finally {
      const { stage } = texts
      const check = this.checks.get(`${stage} ${name}`) ?? { name, stage, parts: 0, ms: 0 }
      this.checks.set(`${stage} ${name}`, check)
      check.parts += checkedParts.length
      check.ms += this.#deps.clock.now() - startedAt
    }
  }

  /** Runs the guard only on strings whose verdict isn't cached. */
  async #checkUncached(guard: Guard, texts: GuardTexts, signal: AbortSignal): Promise<GuardVerdict | undefined> {
    const cache = getVerdictCache(guard, this.#deps.clock)
    if (!cache) return this.#callGuard(guard, texts, signal)
    const { rejection, uncachedParts } = await cache.lookUp(texts.parts)
    if (rejection || uncachedParts.length === 0) return rejection
    const verdict = await this.#callGuard(guard, { ...texts, parts: uncachedParts }, signal)
    await cache.store(uncachedParts, verdict)
    return verdict
  }

  /**
   * Returns the guards that can run during the call. A guard that is known to reject older text must run before the call, so the text can be removed.
   */
  async listConcurrentGuards(parts: readonly GuardPart[]): Promise<readonly Guard[]> {
    const candidates = this.getGuards('request').filter(({ stage, changes }) => stage === 'during' && !changes)
    const rejections = await Promise.all(
      candidates.map(async (guard) => (await getVerdictCache(guard, this.#deps.clock)?.lookUp(parts))?.rejection),
    )
    return candidates.filter((_, index) => !rejections[index])
  }

  /** Records a verdict on an entire request and converts it to a decision. */
  recordVerdict(guard: Guard, verdict: GuardVerdict | undefined): GuardDecision {
    return this.#decide(guard, verdict, [], 'request')
  }

  /** Records a verdict and converts it to a decision. The text passes if the guard only watches. */
  #decide(
    guard: Guard,
    verdict: GuardVerdict | undefined,
    parts: readonly GuardPart[],
    stage: GuardTexts['stage'],
  ): GuardDecision {
    const { name, mode } = guard
    const decision = this.#rejectUnchangeable(toDecision(guard, verdict, parts, stage), guard, { parts, stage })
    if (decision.kind === 'passed' && decision.texts.size === 0) return decision
    const category = decision.kind === 'refused' ? decision.category : undefined
    this.verdicts.push({
      ...{ name, stage, verdict: decision.kind === 'refused' ? 'refuse' : (verdict?.verdict ?? 'pass') },
      ...(category !== undefined && { category }),
      ...(mode === 'watch' && { isWatched: true }),
    })
    return mode === 'watch' ? PASSED_DECISION : decision
  }

  /**
   * Rejects content if a guard would change it but can't: signed reasoning in Messages, and files that can't be written back. If the guard would only
   * restore values, leaves the content unchanged instead.
   */
  #rejectUnchangeable(
    decision: GuardDecision,
    guard: Guard,
    { parts, stage }: Pick<GuardTexts, 'parts' | 'stage'>,
  ): GuardDecision {
    if (decision.kind !== 'passed' || decision.texts.size === 0) return decision
    const changedParts = parts.filter(({ id }) => decision.texts.has(id))
    const isMessages = this.#deps.request.format === 'anthropic-messages'
    const signedParts = isMessages ? changedParts.filter(({ kind }) => kind === 'reasoning') : []
    const unwritableParts = changedParts.filter((part: GuardPart & Partial<ReadPart>) =>
      part.write ? part.write(decision.texts.get(part.id) ?? '') === undefined : false,
    )
    if (signedParts.length === 0 && unwritableParts.length === 0) return decision
    if (signedParts.length === 0 && stage === 'answer' && restoresMaskedValues(guard)) {
      const unwritableIds = new Set(unwritableParts.map(({ id }) => id))
      return { kind: 'passed', texts: new Map([...decision.texts].filter(([id]) => !unwritableIds.has(id))) }
    }
    const category = signedParts.length > 0 ? 'signed-reasoning' : 'unchangeable'
    return { kind: 'refused', guard, category, ids: [...signedParts, ...unwritableParts].map(({ id }) => id) }
  }

  async #callGuard(guard: Guard, texts: GuardTexts, signal: AbortSignal): Promise<GuardVerdict | undefined> {
    const { request, clock, callModel, fetch } = this.#deps
    const { timeoutMs: ms = DEFAULT_TIMEOUT_MS } = guard
    const memory = this.#memory
    return runWithDeadline(
      async (guardSignal) =>
        guard.check(texts, {
          ...{ signal: guardSignal, memory, request, fetch },
          callModel: (path, body) => callModel(path, body, guardSignal),
        }),
      {
        ...{ clock, ms, signal },
        createError: () => new Error(`It took more than ${ms} ms.`),
      },
    )
  }
}

/** The decision if no guard changes anything. */
const PASSED_DECISION: GuardDecision = { kind: 'passed', texts: new Map() }

const STAGES = ['request', 'answer'] as const
const DEFAULT_TIMEOUT_MS = 2_000

const createGuardError = (name: string, cause: unknown): GatewayError =>
  gatewayError('GUARD_UNAVAILABLE', {
    message: `The guard "${name}" could not check the content. Retry in a moment.`,
    cause,
    headers: { 'x-should-retry': 'true' },
  })

/** Converts a verdict to a decision. Throws if the verdict is invalid. */
function toDecision(
  guard: Guard,
  verdict: GuardVerdict | undefined,
  parts: readonly GuardPart[],
  stage: GuardTexts['stage'],
): GuardDecision {
  if (verdict === undefined) return PASSED_DECISION
  if (!isObject(verdict)) throw new TypeError('It returned neither undefined nor an object with a verdict.')
  switch (verdict.verdict) {
    case 'pass':
      return PASSED_DECISION
    case 'refuse': {
      const { category, ids } = verdict
      if (category !== undefined && typeof category !== 'string') throw new TypeError('"category" must be a string.')
      return {
        kind: 'refused',
        guard,
        category,
        ...(ids && { ids: ids.map(createPartFinder(parts)).map(({ id }) => id) }),
      }
    }
    case 'answer':
      if (typeof verdict.text !== 'string') throw new TypeError('"text" must be a string.')
      if (stage === 'answer')
        throw new TypeError('It returned a text for a response, which a guard can only pass, change, or reject.')
      return { kind: 'answered', guard, text: verdict.text }
    case 'change':
      if (!guard.changes) throw new TypeError('Set "changes: true" on a guard that changes texts.')
      return { kind: 'passed', texts: applyChanges(verdict.changes, parts) }
    default:
      throw new TypeError('It returned an unknown verdict.')
  }
}

function createPartFinder(parts: readonly GuardPart[]): (id: unknown) => GuardPart {
  const partsById = new Map<unknown, GuardPart>(parts.map((part) => [part.id, part]))
  return (id) => {
    const part = partsById.get(id)
    if (!part) throw new TypeError('It named a part that it was not given.')
    return part
  }
}

/** Returns the changed strings by ID. Spans refer to the original text. */
function applyChanges(changes: readonly GuardChange[], parts: readonly GuardPart[]): Map<string, string> {
  const findPart = createPartFinder(parts)
  const texts = new Map<string, { part: GuardPart; text: string; end: number }>()
  const sortedChanges = [...changes].sort((a, b) => (a.start ?? 0) - (b.start ?? 0))
  for (const { id, text, start = 0, end } of sortedChanges) {
    const part = findPart(id)
    if (typeof text !== 'string') throw new TypeError('The "text" of a change must be a string.')
    const until = end ?? part.text.length
    if (!(start >= 0 && start <= until && until <= part.text.length))
      throw new RangeError('A span is outside its part.')
    const changedPart = texts.get(id) ?? { part, text: '', end: 0 }
    changedPart.text += part.text.slice(changedPart.end, start) + text
    changedPart.end = Math.max(changedPart.end, until)
    texts.set(id, changedPart)
  }
  const fullTexts = [...texts].map(([id, { part, text, end }]) => [id, text + part.text.slice(end), part.text] as const)
  return new Map(fullTexts.flatMap(([id, text, oldText]) => (text === oldText ? [] : [[id, text] as const])))
}
