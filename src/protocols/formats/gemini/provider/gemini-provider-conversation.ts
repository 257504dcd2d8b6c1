import { assertNever } from '../../../../lib/assert-never.ts'
import { MAX_DEPTH } from '../../../../lib/json.ts'
import { parseRequestArguments } from '../../canonical/canonical-arguments.ts'
import type { AssistantPart, UserPart } from '../../canonical/canonical-parts.ts'
import { CONTINUE_TEXT, dropLabels, type ToolResult, type Turn } from '../../canonical/canonical-turns.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import type { TargetContext } from '../../translator.ts'
import { writeResponse } from '../gemini-function-calls.ts'
import { writeMedia, writeSource } from '../gemini-media.ts'
import { SKIP_SIGNATURE } from '../gemini-reasoning.ts'
import type { WireContent, WireFunctionResponse, WirePart } from '../gemini-wire.ts'

/** Writes `contents`, where user and model alternate. Tool results belong to the user. */
export function writeContents(turns: readonly Turn[], target: TargetContext): WireContent[] {
  const contents: WireContent[] = []

  function addParts(role: WireContent['role'], parts: readonly WirePart[]) {
    const lastContent = contents.at(-1)
    if (parts.length === 0) return
    if (lastContent?.role === role) lastContent.parts.push(...parts)
    else contents.push({ role, parts: [...parts] })
  }

  for (const turn of turns) dropLabels(turn, target.warnings, {})
  for (const turn of turns.slice(countInstructions(turns))) {
    if (turn.role === 'assistant') addParts('model', writeModel(turn.content, target))
    else if (turn.role === 'tool')
      addParts(
        'user',
        turn.results.map((result) => writeResult(result, target)),
      )
    else
      addParts(
        'user',
        turn.content.flatMap((part) => writeUserPart(part, target)),
      )
  }
  if (contents[0]?.role === 'user') return contents
  target.warnings.recordChange('turns', 'added')
  return [{ role: 'user', parts: [{ text: CONTINUE_TEXT }] }, ...contents] // a conversation must start with the user
}

/** Writes `systemInstruction`: the instructions before the first turn, with each text as a part. */
export function writeSystem(turns: readonly Turn[]): { parts: WirePart[] } | undefined {
  const leadingTurns = turns.slice(0, countInstructions(turns))
  const parts = leadingTurns.flatMap((turn) =>
    turn.role === 'system' ? turn.content.map(({ text }) => ({ text })) : [],
  )
  return parts.length > 0 ? { parts } : undefined
}

function countInstructions(turns: readonly Turn[]): number {
  const firstTurnIndex = turns.findIndex(({ role }) => role !== 'system')
  return firstTurnIndex === -1 ? turns.length : firstTurnIndex
}

function writeUserPart(part: UserPart, { warnings }: TargetContext): WirePart[] {
  if (part.type === 'text') return [{ text: part.text }]
  if (part.type === 'search-result')
    return part.content.map(({ text }) => ({ text: `${part.title}\n${part.source}\n\n${text}` }))
  const media =
    writeMedia(part) ?? warnings.reject(warnings.getPath(part, 'turns'), 'the file is not stored at Google.')
  dropFileName(part, warnings)
  return [media]
}

/** Writes a model turn. Newer models reject a step whose first call has no signature. Image models reject an image or a first part without one. */
function writeModel(content: readonly AssistantPart[], target: TargetContext): WirePart[] {
  const firstCall = content.find(({ type }) => type === 'tool-call')
  const firstVisiblePart = content.find(({ type }) => type !== 'reasoning')
  const needsSignature = (part: AssistantPart) =>
    part === firstCall || (target.traits.signsResponses && (part === firstVisiblePart || part.type === 'image'))
  return content.flatMap((part) => {
    const [wirePart, ...otherParts] = writeModelPart(part, target)
    if (!wirePart) return []
    const state = 'state' in part ? part.state : undefined
    const signature =
      state?.kind === 'thought-signature' ? state.data : needsSignature(part) ? SKIP_SIGNATURE : undefined
    return signature === undefined
      ? [wirePart, ...otherParts]
      : [{ ...wirePart, thoughtSignature: signature }, ...otherParts]
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
            args: parseRequestArguments(part, warnings),
          },
        },
      ]
    case 'server-tool':
      return [] // `prepareRequest` has converted it to text
    case 'compaction': // `prepareRequest` has rejected it
      return []
    case 'image':
    case 'audio': {
      const media = writeMedia(part)
      if (!media) warnings.recordDrop(warnings.getPath(part, 'turns'))
      return media ? [media] : []
    }
    default:
      return assertNever(part)
  }
}

function writeResult(result: ToolResult, target: TargetContext): WirePart {
  const { callId, name, content, isError } = result
  const { warnings } = target
  const reject = () =>
    warnings.reject(
      warnings.getPath(result, 'turns'),
      `the JSON of the result is nested deeper than ${MAX_DEPTH} levels.`,
    )
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const response: WireFunctionResponse = {
    ...(target.traits.callIds && { id: callId }),
    name: name ?? callId,
    response: writeResponse(text, isError === true, reject),
  }
  const parts = content.flatMap((part) => writeResultPart(part, target))
  if (parts.length > 0) response.parts = parts
  return { functionResponse: response }
}

function writeResultPart(part: ToolResult['content'][number], { warnings }: TargetContext) {
  if (part.type === 'text' || part.type === 'search-result') return []
  const media = writeSource(part.source, part.type)
  dropFileName(part, warnings)
  return media ? [media] : warnings.reject(warnings.getPath(part, 'turns'), 'the file is not stored at Google.')
}

/** Warns about a dropped file name: the Gemini API has no field for it, only Vertex does. */
function dropFileName(part: UserPart, warnings: Warnings) {
  if (part.type === 'file' && part.name !== undefined) warnings.recordDrop(warnings.getPath(part, 'turns', 'name'))
}
