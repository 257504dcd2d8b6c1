import { assertNever } from '../../../lib/assert-never.ts'
import { MAX_DEPTH } from '../../../lib/json.ts'
import { requestArguments } from '../../canonical/arguments.ts'
import type { AssistantPart, UserPart } from '../../canonical/parts.ts'
import { CONTINUE_TEXT, dropLabels, type ToolResult, type Turn } from '../../canonical/turns.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import type { TargetContext } from '../../translator.ts'
import { writeResponse } from '../function-calls.ts'
import { writeMedia, writeSource } from '../media.ts'
import { NO_SIGNATURE } from '../reasoning.ts'
import type { WireContent, WireFunctionResponse, WirePart } from '../wire.ts'

/** Writes `contents`, in which user and model alternate; tool results are the user's. */
export function writeContents(turns: readonly Turn[], target: TargetContext): WireContent[] {
  const contents: WireContent[] = []

  function add(role: WireContent['role'], parts: readonly WirePart[]) {
    const last = contents.at(-1)
    if (parts.length === 0) return
    if (last?.role === role) last.parts.push(...parts)
    else contents.push({ role, parts: [...parts] })
  }

  for (const turn of turns) dropLabels(turn, target.warnings, {})
  for (const turn of withoutInstructions(turns)) {
    if (turn.role === 'assistant') add('model', writeModel(turn.content, target))
    else if (turn.role === 'tool')
      add(
        'user',
        turn.results.map((result) => writeResult(result, target)),
      )
    else
      add(
        'user',
        turn.content.flatMap((part) => writeUserPart(part, target)),
      )
  }
  if (contents[0]?.role === 'user') return contents
  target.warnings.noteChanged('turns', 'added')
  return [{ role: 'user', parts: [{ text: CONTINUE_TEXT }] }, ...contents] // a conversation must begin with the user
}

/** Writes `systemInstruction`: the instructions before the first turn, each text as a part. */
export function writeSystem(turns: readonly Turn[]): { parts: WirePart[] } | undefined {
  const run = turns.slice(0, instructionsIn(turns))
  const parts = run.flatMap((turn) => (turn.role === 'system' ? turn.content.map(({ text }) => ({ text })) : []))
  return parts.length > 0 ? { parts } : undefined
}

const withoutInstructions = (turns: readonly Turn[]) => turns.slice(instructionsIn(turns))

function instructionsIn(turns: readonly Turn[]): number {
  const first = turns.findIndex(({ role }) => role !== 'system')
  return first === -1 ? turns.length : first
}

function writeUserPart(part: UserPart, { warnings }: TargetContext): WirePart[] {
  if (part.type === 'text') return [{ text: part.text }]
  if (part.type === 'search-result')
    return part.content.map(({ text }) => ({ text: `${part.title}\n${part.source}\n\n${text}` }))
  const media = writeMedia(part) ?? warnings.refuse(warnings.pathOf(part, 'turns'), 'the file is not at Google.')
  dropFileName(part, warnings)
  return [media]
}

/**
 * Writes a turn of the model. Newer models refuse the first call of a step without a signature; parallel calls after it have none. Models
 * that generate images refuse unsigned images, and an unsigned first part of an answer.
 */
function writeModel(content: readonly AssistantPart[], target: TargetContext): WirePart[] {
  const firstCall = content.find(({ type }) => type === 'tool-call')
  const first = content.find(({ type }) => type !== 'reasoning')
  const isSigned = (part: AssistantPart) =>
    part === firstCall || (target.traits.signsAnswers && (part === first || part.type === 'image'))
  return content.flatMap((part) => {
    const [written, ...others] = writeModelPart(part, target)
    if (!written) return []
    const state = 'state' in part ? part.state : undefined
    const signature = state?.kind === 'thought-signature' ? state.data : isSigned(part) ? NO_SIGNATURE : undefined
    return signature === undefined ? [written, ...others] : [{ ...written, thoughtSignature: signature }, ...others]
  })
}

function writeModelPart(part: AssistantPart, { traits, warnings }: TargetContext): WirePart[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [{ text: part.text }]
    case 'reasoning':
      return [{ text: part.text, thought: true }]
    case 'tool-call':
      return [
        {
          functionCall: {
            ...(traits.callIds && { id: part.id }),
            name: part.name,
            args: requestArguments(part, warnings),
          },
        },
      ]
    case 'server-tool':
      return [] // `prepareRequest` has made it text
    case 'compaction': // `prepareRequest` has refused it
      return []
    case 'image':
    case 'audio': {
      const media = writeMedia(part)
      if (!media) warnings.noteDropped(warnings.pathOf(part, 'turns'))
      return media ? [media] : []
    }
    default:
      return assertNever(part)
  }
}

function writeResult(result: ToolResult, target: TargetContext): WirePart {
  const { callId, name, content, isError } = result
  const { warnings } = target
  const refuse = () =>
    warnings.refuse(warnings.pathOf(result, 'turns'), `the JSON of the result nests deeper than ${MAX_DEPTH} levels.`)
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const response: WireFunctionResponse = {
    ...(target.traits.callIds && { id: callId }),
    name: name ?? callId,
    response: writeResponse(text, isError === true, refuse),
  }
  const parts = content.flatMap((part) => writeResultPart(part, target))
  if (parts.length > 0) response.parts = parts
  return { functionResponse: response }
}

function writeResultPart(part: ToolResult['content'][number], { warnings }: TargetContext) {
  if (part.type === 'text' || part.type === 'search-result') return []
  const media = writeSource(part.source, part.type)
  dropFileName(part, warnings)
  return media ? [media] : warnings.refuse(warnings.pathOf(part, 'turns'), 'the file is not at Google.')
}

/** Warns that a file name is lost: only Vertex has a field for it, not the Gemini API. */
function dropFileName(part: UserPart, warnings: Warnings) {
  if (part.type === 'file' && part.name !== undefined) warnings.noteDropped(warnings.pathOf(part, 'turns', 'name'))
}
