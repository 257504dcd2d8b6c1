import { createReadStream } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { isObject } from '../../lib/json.ts'
import { createProblem } from '../problem.ts'
import { readString } from './field-values.ts'

/** Maximum file size, in bytes: larger than any configuration, but readable within seconds. */
const MAX_BYTES = 32 * 1024 * 1024
/** Maximum size of a YAML file, in characters. The parser needs a second per two million characters, and a lot of memory. */
const MAX_YAML_LENGTH = 8 * 1024 * 1024
/** Maximum nesting depth. No configuration is nested deeper. */
const MAX_DEPTH = 100

/** Returns the code of a system error, such as `ENOENT`, or an empty string for any other error. */
export const getErrorCode = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause ? String(cause.code) : ''

/** Reads a YAML or JSON file. Problems give the position of a mistake but quote nothing, because the text could be a secret. */
export async function readDocument(path: string): Promise<unknown> {
  const text = await readFileText(path)
  const value = /^\s*[[{]/.test(text) ? (tryParseJson(text) ?? parseYaml(path, text)) : parseYaml(path, text)
  if (value === null || value === undefined) throw createProblem(`${path} is empty.`)
  if (isTooDeep(value))
    throw createProblem(`${path} is nested more than ${MAX_DEPTH} levels deep, or refers to itself.`)
  return value
}

async function readFileText(path: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of createReadStream(path)) {
      size += chunk.length
      if (size > MAX_BYTES) break
      chunks.push(chunk)
    }
  } catch (cause) {
    const code = getErrorCode(cause)
    const reason = { ENOENT: 'no such file', EISDIR: 'it is a directory', EACCES: 'permission denied' }[code] ?? code
    throw createProblem(`Cannot read ${path}: ${reason}.`, { cause })
  }
  if (size > MAX_BYTES) throw createProblem(`${path} is larger than ${MAX_BYTES / 1024 / 1024} MiB.`)
  const bytes = Buffer.concat(chunks)
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe // PowerShell writes UTF-16 files
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes)
}

/** Parses JSON. Returns `undefined` for any other text. The YAML parser could also read JSON, but more slowly. */
function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function parseYaml(path: string, text: string): unknown {
  if (text.length > MAX_YAML_LENGTH)
    throw createProblem(`${path} is larger than ${MAX_YAML_LENGTH / 1024 / 1024} MiB, the maximum for YAML.`)
  const document = tryParse(() => parseDocument(text, { uniqueKeys: false, merge: true, logLevel: 'silent' }))
  if (!document) throw createProblem(`${path} is nested too deeply.`)
  const [mistake] = document.errors
  if (mistake) {
    const [position] = mistake.linePos ?? []
    throw createProblem(
      `${path} is not valid YAML or JSON${position ? `; see line ${position.line}, column ${position.col}` : ''}.`,
    )
  }
  const value = tryParse((): unknown => document.toJS({ maxAliasCount: 1_000 }) ?? null)
  if (value === undefined) throw createProblem(`${path} has too many YAML aliases.`)
  return value
}

function tryParse<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}

/** Returns whether the value is nested too deeply, or refers to itself. Visits a part with several references only once. */
function isTooDeep(value: unknown): boolean {
  const heights = new Map<unknown, number>()
  const measureHeight = (value: unknown, depth: number): number => {
    if (typeof value !== 'object' || value === null) return 0
    const measured = heights.get(value)
    if (measured !== undefined || depth > MAX_DEPTH) return measured ?? MAX_DEPTH
    heights.set(value, MAX_DEPTH) // makes a part that refers to itself count as too deep
    const height = Object.values(value).reduce((most, inner) => Math.max(most, measureHeight(inner, depth + 1)), 0) + 1
    heights.set(value, height)
    return height
  }
  return measureHeight(value, 1) > MAX_DEPTH
}

/**
 * Reads a LiteLLM configuration and the files it includes, and merges them as LiteLLM does: lists are concatenated, and any other value in an
 * included file overrides the value before it. Paths of included files are relative to the file that includes them. The includes of included files
 * are ignored.
 */
export async function readWithIncludes(path: string): Promise<unknown> {
  const config = await readDocument(path)
  if (!isObject(config) || config.include === undefined || config.include === null) return config
  const includes = Array.isArray(config.include) ? config.include : [config.include]
  const merged = new Map<string, unknown>(Object.entries(config))
  for (const [index, include] of includes.entries()) {
    const name = readString(include)
    if (name === undefined) throw createProblem(`${path}: include[${index}] must be a file path.`)
    const included = await readDocument(resolve(dirname(path), name))
    if (!isObject(included)) throw createProblem(`${name}, included by ${path}, must contain an object.`)
    for (const [section, value] of Object.entries(included)) {
      const previous = merged.get(section)
      merged.set(section, Array.isArray(previous) && Array.isArray(value) ? [...previous, ...value] : value)
    }
  }
  return Object.fromEntries(merged)
}
