import { isObject, type JsonObject } from '../../../../lib/json.ts'
import type { Warnings } from '../../../formats/canonical/canonical-warnings.ts'
import type { ClientAdapter } from '../../kind-adapters.ts'
import {
  type EmbeddingInput,
  type EmbeddingRequest,
  type EmbeddingResponse,
  type InputPart,
  parseDimensions,
  parseTask,
} from '../embedding.ts'
import { toFloats } from '../vectors.ts'

const fieldNames = { task: 'taskType', dimensions: 'outputDimensionality', inputs: 'content' }

/** Google's `embedContent`, for a single input: https://ai.google.dev/api/embeddings */
export const gemini: ClientAdapter<EmbeddingRequest, EmbeddingResponse> = {
  fieldNames,
  read: (body, { warnings }) => readRequests([body], warnings),
  write: ({ vectors: [vector = []], usage }) => ({ embedding: { values: toFloats(vector) }, ...writeUsage(usage) }),
}

/** Google's `batchEmbedContents`, for several inputs. */
export const geminiBatch: ClientAdapter<EmbeddingRequest, EmbeddingResponse> = {
  fieldNames: {
    task: 'requests[].taskType',
    title: 'requests[].title',
    dimensions: 'requests[].outputDimensionality',
    inputs: 'requests[].content',
  },
  read({ requests }, { warnings }) {
    if (!Array.isArray(requests) || requests.length === 0 || !requests.every(isObject))
      return warnings.reject('requests', 'must be a non-empty array of requests')
    return readRequests(requests, warnings)
  },
  write: ({ vectors, usage }) => ({
    embeddings: vectors.map((vector) => ({ values: toFloats(vector) })),
    ...writeUsage(usage),
  }),
}

const writeUsage = (usage: EmbeddingResponse['usage']) =>
  usage && { usageMetadata: { promptTokenCount: usage.inputTokens } }

function readRequests(requests: readonly JsonObject[], warnings: Warnings): EmbeddingRequest {
  const inputs = requests.map((request) => readInput(request, warnings))
  const requestedDimensions = new Set(
    requests.map((request) => request.outputDimensionality ?? request.output_dimensionality ?? undefined),
  )
  if (requestedDimensions.size > 1) warnings.reject('dimensions', 'must be the same in all requests')
  const dimensions = parseDimensions([...requestedDimensions][0], warnings)
  return { inputs, encoding: 'float', ...(dimensions !== undefined && { dimensions }) }
}

/** Reads one input. Like Google, accepts camel case and snake case. */
function readInput(request: JsonObject, warnings: Warnings): EmbeddingInput {
  const { content, title, taskType = request.task_type } = request
  const rawParts = isObject(content) && Array.isArray(content.parts) ? content.parts : [content]
  const parts = rawParts.map(readPart)
  if (!parts.every((part) => part !== undefined) || parts.length === 0)
    return warnings.reject('inputs', 'must have parts with text or inline data')
  const task = parseTask(taskType)
  if (task === undefined && taskType !== undefined && taskType !== 'TASK_TYPE_UNSPECIFIED')
    warnings.reject('task', `must be a Google task type, such as "RETRIEVAL_QUERY"`)
  const [firstPart] = parts
  return {
    ...(firstPart && 'text' in firstPart && parts.length === 1 ? { text: firstPart.text } : { parts }),
    ...(task && { task }),
    ...(typeof title === 'string' && { title }),
  }
}

function readPart(part: unknown): InputPart | undefined {
  if (typeof part === 'string') return { text: part }
  if (!isObject(part)) return undefined
  const { text, inlineData = part.inline_data } = part
  if (typeof text === 'string') return { text }
  if (!isObject(inlineData)) return undefined
  const { data, mimeType = inlineData.mime_type } = inlineData
  return typeof data === 'string' && typeof mimeType === 'string'
    ? { image: `data:${mimeType};base64,${data}` }
    : undefined
}
