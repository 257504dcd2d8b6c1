import type { Warnings } from '../../../formats/canonical/warnings.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { ClientForm } from '../../forms.ts'
import { type Embed, type Embedded, type Input, type InputPart, taskMeant } from '../embedding.ts'
import { asFloats } from '../vectors.ts'

const fieldNames = { task: 'taskType', dimensions: 'outputDimensionality', inputs: 'content' }

/** The form of Google's clients for one content: https://ai.google.dev/api/embeddings */
export const gemini: ClientForm<Embed, Embedded> = {
  fieldNames,
  read: (body, { warnings }) => embedOf([body], warnings),
  write: ({ vectors: [vector = []], usage }) => ({ embedding: { values: asFloats(vector) }, ...metadataOf(usage) }),
}

/** The form of Google's clients for several contents. */
export const geminiBatch: ClientForm<Embed, Embedded> = {
  fieldNames: {
    task: 'requests[].taskType',
    title: 'requests[].title',
    dimensions: 'requests[].outputDimensionality',
    inputs: 'requests[].content',
  },
  read({ requests }, { warnings }) {
    if (!Array.isArray(requests) || requests.length === 0 || !requests.every(isObject))
      return warnings.refuse('requests', 'it must be a list of requests that is not empty')
    return embedOf(requests, warnings)
  },
  write: ({ vectors, usage }) => ({
    embeddings: vectors.map((vector) => ({ values: asFloats(vector) })),
    ...metadataOf(usage),
  }),
}

const metadataOf = (usage: Embedded['usage']) => usage && { usageMetadata: { promptTokenCount: usage.inputTokens } }

function embedOf(requests: readonly JsonObject[], warnings: Warnings): Embed {
  const inputs = requests.map((request) => inputOf(request, warnings))
  const widths = new Set(requests.map((request) => request.outputDimensionality ?? request.output_dimensionality))
  if (widths.size > 1) warnings.refuse('dimensions', 'it must be the same in all requests')
  const [dimensions] = widths
  if (dimensions !== undefined && typeof dimensions !== 'number')
    return warnings.refuse('dimensions', 'it must be a whole number')
  return { inputs, encoding: 'float', ...(dimensions !== undefined && { dimensions }) }
}

/** Google takes both spellings of each name. */
function inputOf(request: JsonObject, warnings: Warnings): Input {
  const { content, title, taskType = request.task_type } = request
  const given = isObject(content) && Array.isArray(content.parts) ? content.parts : [content]
  const parts = given.map(partOf)
  if (!parts.every((part) => part !== undefined) || parts.length === 0)
    return warnings.refuse('inputs', 'it must have parts with text or inline data')
  const task = taskMeant(taskType)
  if (task === undefined && taskType !== undefined && taskType !== 'TASK_TYPE_UNSPECIFIED')
    warnings.refuse('task', `it must be a task of Google, such as "RETRIEVAL_QUERY"`)
  const [only] = parts
  return {
    ...(only && 'text' in only && parts.length === 1 ? { text: only.text } : { parts }),
    ...(task && { task }),
    ...(typeof title === 'string' && { title }),
  }
}

function partOf(part: unknown): InputPart | undefined {
  if (typeof part === 'string') return { text: part }
  if (!isObject(part)) return undefined
  const { text, inlineData = part.inline_data } = part
  if (typeof text === 'string') return { text }
  if (!isObject(inlineData)) return undefined
  const { data, mimeType = inlineData.mime_type } = inlineData
  return typeof data === 'string' ? { image: `data:${String(mimeType)};base64,${data}` } : undefined
}
