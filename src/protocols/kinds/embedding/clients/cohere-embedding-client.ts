import { isObject } from '../../../../lib/json.ts'
import type { ClientAdapter } from '../../kind-adapters.ts'
import {
  type EmbeddingInput,
  type EmbeddingRequest,
  type EmbeddingResponse,
  parseDimensions,
  parseTask,
} from '../embedding.ts'
import { toBase64Vector, toFloats } from '../vectors.ts'
import { parseTruncation, readParts } from './openai-embedding-client.ts'

/** Cohere's API: https://docs.cohere.com/reference/embed */
export const cohere: ClientAdapter<EmbeddingRequest, EmbeddingResponse> = {
  fieldNames: {
    task: 'input_type',
    dimensions: 'output_dimension',
    truncation: 'truncate',
    types: 'embedding_types',
  },
  read(body, { warnings }) {
    const { texts, images, inputs, embedding_types: types, output_dimension: dimensions, truncate } = body
    const fieldName = ['texts', 'images', 'inputs'].find((field) => body[field] !== undefined) ?? 'texts'
    warnings.setFieldName('inputs', fieldName)
    const parsedInputs = readInputs(texts, readText) ?? readInputs(images, readImage) ?? readInputs(inputs, readInput)
    if (!parsedInputs) return warnings.reject('inputs', 'must be a non-empty array')
    const request: EmbeddingRequest = { inputs: parsedInputs, encoding: 'float' }
    const task = parseTask(body.input_type)
    if (task) request.task = task
    else if (typeof body.input_type === 'string' && body.input_type !== 'image') request.unknownTask = body.input_type
    if (types !== undefined) {
      if (!isStringArray(types)) return warnings.reject('types', 'must be an array of types')
      request.types = types
      if (types.every((type) => type === 'base64')) request.encoding = 'base64'
    }
    const vectorLength = parseDimensions(dimensions, warnings)
    if (vectorLength !== undefined) request.dimensions = vectorLength
    if (truncate !== undefined)
      request.truncation =
        parseTruncation(truncate) ?? warnings.reject('truncation', 'must be "NONE", "START", or "END"')
    return request
  },
  write({ vectors, vectorsByType, usage, id }, { request, newId }) {
    const { types = ['float'], inputs } = request
    const embeddings = types.map((type) => [type, getVectorsByType(type, vectors) ?? vectorsByType?.[type] ?? []])
    const texts = inputs.flatMap(({ text }) => text ?? [])
    return {
      id: id ?? newId(),
      embeddings: Object.fromEntries(embeddings),
      texts,
      meta: {
        api_version: { version: '2' },
        billed_units: { input_tokens: usage?.inputTokens ?? 0 }, // some clients require a number
      },
      response_type: 'embeddings_by_type',
    }
  },
}

function getVectorsByType(type: string, vectors: EmbeddingResponse['vectors']): unknown[] | undefined {
  if (type === 'float') return vectors.map(toFloats)
  return type === 'base64' ? vectors.map(toBase64Vector) : undefined
}

function readInputs(
  list: unknown,
  readItem: (item: unknown) => EmbeddingInput | undefined,
): EmbeddingInput[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined
  const inputs = list.map(readItem)
  return inputs.every((input) => input !== undefined) ? inputs : undefined
}

const readText = (text: unknown): EmbeddingInput | undefined => (typeof text === 'string' ? { text } : undefined)
const readImage = (image: unknown): EmbeddingInput | undefined =>
  typeof image === 'string' ? { parts: [{ image }] } : undefined
const readInput = (input: unknown): EmbeddingInput | undefined =>
  isObject(input) && Array.isArray(input.content) ? readParts(input.content) : undefined

const isStringArray = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
