import { isObject, type JsonObject } from '../../../../lib/json.ts'
import type { ClientAdapter } from '../../kind-adapters.ts'
import {
  type EmbeddingInput,
  type EmbeddingRequest,
  type EmbeddingResponse,
  type InputPart,
  parseDimensions,
  parseTask,
  type Truncation,
} from '../embedding.ts'
import { toBase64Vector, toFloats } from '../vectors.ts'

/**
 * OpenAI's API, plus the fields of compatible servers: `output_dimension` and `truncation` (Voyage), `truncate` (NVIDIA), `task` (Jina),
 * `input_type`, and multipart inputs (OpenRouter). OpenAI's SDKs request base64 by default.
 */
export const openai: ClientAdapter<EmbeddingRequest, EmbeddingResponse> = {
  fieldNames: { inputs: 'input', encoding: 'encoding_format', task: 'input_type', truncation: 'truncate' },
  read(body, { warnings }) {
    const inputs = readInputs(body.input)
    if (!inputs) return warnings.reject('inputs', 'must be a string, tokens, or a non-empty array of either')
    const readFirstField = (field: string, names: readonly string[]) => {
      const name = names.find((name) => (body[name] ?? null) !== null)
      if (name !== undefined) warnings.setFieldName(field, name)
      return name === undefined ? undefined : body[name]
    }
    const request: EmbeddingRequest = { inputs, encoding: readEncoding(body) }
    const dimensions = parseDimensions(readFirstField('dimensions', ['dimensions', 'output_dimension']), warnings)
    if (dimensions !== undefined) request.dimensions = dimensions
    const taskName = readFirstField('task', ['input_type', 'task'])
    const task = parseTask(taskName)
    if (task) request.task = task
    else if (typeof taskName === 'string') request.unknownTask = taskName
    else if (taskName !== undefined) return warnings.reject('task', 'must be a string')
    const truncation = readFirstField('truncation', ['truncate', 'truncation'])
    if (truncation !== undefined)
      request.truncation =
        parseTruncation(truncation) ?? warnings.reject('truncation', 'must be "NONE", "START", "END", true, or false')
    if (typeof body.user === 'string') request.user = body.user
    return request
  },
  write: ({ vectors, usage, id }, { request, model }) => ({
    object: 'list',
    ...(id !== undefined && { id }),
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encodeVector(vector, request) })),
    model,
    ...(usage && { usage: { prompt_tokens: usage.inputTokens, total_tokens: usage.inputTokens } }),
  }),
}

/** Returns a vector in the client's encoding. */
export const encodeVector = (vector: EmbeddingResponse['vectors'][number], { encoding }: EmbeddingRequest) => {
  if (encoding === 'raw') return vector
  return encoding === 'base64' ? toBase64Vector(vector) : toFloats(vector)
}

/** Reads the encoding. Types other than floats keep the vendor's packing. */
function readEncoding({
  encoding_format: encodingFormat,
  output_dtype: outputType,
  embedding_type: embeddingType,
}: JsonObject): EmbeddingRequest['encoding'] {
  if ((outputType ?? 'float') !== 'float') return 'raw'
  const encoding = encodingFormat ?? embeddingType ?? 'float'
  return encoding === 'float' || encoding === 'base64' ? encoding : 'raw'
}

function readInputs(input: unknown): EmbeddingInput[] | undefined {
  const items = Array.isArray(input) && !isTokenArray(input) ? input : [input]
  const inputs = items.map(readInput)
  return inputs.length > 0 && inputs.every((input) => input !== undefined) ? inputs : undefined
}

function readInput(value: unknown): EmbeddingInput | undefined {
  if (typeof value === 'string') return { text: value }
  if (isTokenArray(value)) return { tokens: value }
  if (!isObject(value)) return undefined
  const { text, image, content } = value
  if (Array.isArray(content)) return readParts(content)
  if (typeof text === 'string') return { parts: [{ text }] }
  return typeof image === 'string' ? { parts: [{ image }] } : undefined
}

const isTokenArray = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'number')

/** Reads an input's parts as OpenRouter and Cohere define them. */
export function readParts(content: readonly unknown[]): EmbeddingInput | undefined {
  const parts = content.map(readPart)
  return parts.length > 0 && parts.every((part) => part !== undefined) ? { parts } : undefined
}

function readPart(part: unknown): InputPart | undefined {
  if (!isObject(part)) return undefined
  const { type, text, image_url: image } = part
  if (type === 'text' && typeof text === 'string') return { text }
  const url = isObject(image) ? image.url : image
  return type === 'image_url' && typeof url === 'string' ? { image: url } : undefined
}

/** Parses the truncation setting: a word (NVIDIA, Cohere), or a flag that truncates the end (Voyage, Jina). */
export function parseTruncation(value: unknown): Truncation | undefined {
  if (typeof value === 'boolean') return value ? 'end' : 'none'
  const mode = typeof value === 'string' ? value.toLowerCase() : undefined
  return mode === 'none' || mode === 'start' || mode === 'end' ? mode : undefined
}
