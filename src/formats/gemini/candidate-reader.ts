import { isObject, type JsonObject } from '../../lib/json.ts'
import { MALFORMED_CALL } from '../canonical/errors.ts'
import type { AssistantPart, ToolCallPart } from '../canonical/parts.ts'
import type { OpaqueState } from '../canonical/state.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import type { ReadContext } from '../translator.ts'
import { answerPart } from './answer-part.ts'
import { createCallAssembler, type WholeCall } from './call-assembler.ts'
import { finishOf, isVagueEnd } from './finish-reason.ts'
import { type CitedText, namesSources, parseGrounding } from './grounding-parse.ts'
import { parseLogprobs } from './logprobs.ts'

/** Reads one candidate, chunk by chunk; a whole answer is one chunk. */
export interface CandidateReader {
  observe(candidate: JsonObject): void
  /** Tells what was held back. */
  end(): void
}

export interface CandidateContext extends ReadContext {
  candidate: number
  /** Parts are numbered over all candidates. */
  keys: { next: number }
  /** Of the calls so far: no two are the same. */
  ids: Set<string>
}

interface OpenPart {
  type: 'text' | 'reasoning'
  key: number
  said: string[]
  partIndex: number
  /** What follows is another part: a signature stands at the end of what it signs. */
  isSigned: boolean
}

export function createCandidateReader(context: CandidateContext, emit: (event: ReaderEvent) => void): CandidateReader {
  const { candidate: index, keys, ids, origin, newId, losses } = context
  const assembler = createCallAssembler(() => losses.dropped('functionCall'))
  let open: OpenPart | undefined
  let closed: OpenPart[] = [] // within a chunk that tells the sources of its texts
  let isCiting = false
  let isSilent = true
  let isVague = false // the last chunk has a reason that says nothing, and nothing else
  let isFinished = false
  let partIndex = -1

  function observe(candidate: JsonObject) {
    const { content, logprobsResult, groundingMetadata, citationMetadata } = candidate
    isCiting = isObject(groundingMetadata) || isObject(citationMetadata)
    partIndex = -1
    let logprobs = logprobsResult ? parseLogprobs(logprobsResult) : undefined
    const parts: unknown[] = isObject(content) && Array.isArray(content.parts) ? content.parts : []
    for (const part of parts) {
      partIndex++
      if (!isObject(part)) continue
      if (part.functionCall !== undefined) call(assembler.take(part))
      else if (saysSomething(part)) call(assembler.flush())
      const said = answerPart(part, context)
      if (!said) continue
      const isText = said.type === 'text' && said.text !== ''
      if (isText && logprobs) said.logprobs = logprobs
      if (isText) logprobs = undefined
      if (said.type === 'text' || said.type === 'reasoning') say(said)
      else whole(said)
    }
    if (logprobs && !parts.some(isThought)) losses.dropped('logprobsResult') // there is no text that they could be of
    if (isCiting) cite(candidate)
    const finish = finishOf(candidate.finishReason, candidate.finishMessage)
    isVague = isVagueEnd(candidate.finishReason) && !parts.some(saysSomething)
    if (!finish) return
    isFinished = true
    end()
    if (finish.reason === 'malformed-call' && isSilent)
      return emit({ type: 'error', error: malformed(finish.explanation) })
    emit({ type: 'finish', candidate: index, finish })
  }

  function start(part: AssistantPart): number {
    const key = keys.next++
    isSilent = false
    emit({ type: 'part-start', key, candidate: index, part })
    return key
  }

  function say(part: AssistantPart & { type: 'text' | 'reasoning' }) {
    const { type, text, state } = part
    if (open?.type !== type || open.isSigned) {
      close()
      const key = start(type === 'text' ? { type, text: '' } : { type, text: '', isSummary: true })
      open = { type, key, said: [], partIndex, isSigned: false }
    }
    const { key } = open
    if (text !== '') {
      open.said.push(text)
      const logprobs = part.type === 'text' ? part.logprobs : undefined
      emit(logprobs ? { type: 'part-delta', key, text, logprobs } : { type: 'part-delta', key, text })
    }
    if (state) sign(open, state)
  }

  function sign(part: OpenPart, state: OpaqueState) {
    part.isSigned = true
    emit({ type: 'part-state', key: part.key, state })
  }

  function whole(part: AssistantPart) {
    close()
    emit({ type: 'part-end', key: start(part) })
  }

  function call(calls: readonly WholeCall[]) {
    for (const { id: given, name, arguments: args, signature } of calls) {
      close()
      const id = given !== undefined && !ids.has(given) ? given : `call_${newId()}`
      ids.add(id)
      const part: ToolCallPart = { type: 'tool-call', id, name, arguments: '' }
      if (signature !== undefined) part.state = { origin, kind: 'thought-signature', data: signature }
      const key = start(part)
      if (args !== '') emit({ type: 'part-delta', key, text: args })
      emit({ type: 'part-end', key })
    }
  }

  function close() {
    if (!open) return
    if (isCiting && open.type === 'text') closed.push(open)
    else emit({ type: 'part-end', key: open.key })
    open = undefined
  }

  /** Sources come last, and are of texts that may be over: these stay open until then. */
  function cite(candidate: JsonObject) {
    const parts = open?.type === 'text' ? [...closed, open] : closed
    const texts = parts.map((part): CitedText => ({ ...part, text: part.said.join('') }))
    const found = parseGrounding(candidate, texts)
    if (found.length === 0 && namesSources(candidate)) losses.dropped('groundingMetadata')
    for (const { key, citation } of found) emit({ type: 'part-citation', key, citation })
    for (const { key } of closed) emit({ type: 'part-end', key })
    closed = []
    isCiting = false
  }

  function end() {
    call(assembler.flush())
    close()
  }

  return {
    observe,
    end() {
      end()
      if (isVague && !isFinished) emit({ type: 'finish', candidate: index, finish: { reason: 'stop' } })
      isFinished ||= isVague
    },
  }
}

const saysSomething = (part: unknown): boolean =>
  isObject(part) && (part.text !== '' || part.thoughtSignature !== undefined)

/** Nobody has a place for the tokens of thoughts. */
const isThought = (part: unknown): boolean => isObject(part) && part.thought === true

/** Nothing was said, so that another try may do better. */
const malformed = (explanation = 'The model made a function call that is malformed.') =>
  ({ kind: 'server', status: 502, code: MALFORMED_CALL, message: explanation }) as const
