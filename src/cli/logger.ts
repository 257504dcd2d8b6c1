import type { Hooks } from '../features/observe/hooks.ts'
import type { UsageRecord } from '../pricing/usage-record.ts'
import { getTargetName } from '../protocols/providers/target.ts'
import type { RequestRecord } from '../request/hook-records.ts'
import type { Logger } from '../types.ts'
import { replaceCallsWithCommands } from './commands/wording.ts'

/** The program's two outputs. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
}

/** Creates a logger that writes one line per message. Warnings and errors go to stderr. */
export function createLogger({ out, err }: Terminal): Logger {
  return {
    info: (message, data) => out(`signalbox: ${formatMessage(message, data)}\n`),
    warn: (message, data) => err(`signalbox: warning: ${formatMessage(message, data)}\n`),
    error: (message, data) => err(`signalbox: error: ${formatMessage(message, data)}\n`),
  }
}

function formatMessage(text: string, data: Record<string, unknown> = {}): string {
  const message = replaceCallsWithCommands(text)
  const facts = Object.entries(data).map(([name, value]) => [
    name,
    value instanceof Error ? describeError(value) : String(value),
  ])
  const extraData = facts.filter(([, value]) => value !== undefined && !message.includes(value))
  return toOneLine(
    extraData.length > 0 ? `${message} (${extraData.map(([name, value]) => `${name}: ${value}`).join(', ')})` : message,
  )
}

/** Converts text to one line that is safe to print: at most 1,000 characters long, and without control characters or repeated whitespace. */
export function toOneLine(text: string): string {
  const line = text
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
    .trim()
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line
}

const MAX_LENGTH = 1_000

/** Describes an unexpected error in one line: its name, code, and message, without the stack or anything that looks like a credential. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return withoutSecrets(toOneLine(String(error)))
  const code = 'code' in error && typeof error.code === 'string' ? ` ${error.code}` : ''
  return withoutSecrets(toOneLine(`${error.name}${code}: ${error.message}`))
}

const CREDENTIAL_PATTERN = /\b(?:Bearer|Basic)\s+\S+|\b(?:sk|sbx|pk|key|gsk|xai)[-_][\w-]{8,}|[\w+=-]{32,}/gi
const UUID_PATTERN = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const withoutSecrets = (text: string) =>
  text.replace(CREDENTIAL_PATTERN, (found) => (UUID_PATTERN.test(found) ? found : '…'))

/**
 * Creates hooks that write one line per model request: time, status, model, targets, duration, and tokens. A request's usage is reported right before
 * the request itself.
 */
export function createRequestLog(write: (line: string) => void): Hooks {
  let usage: UsageRecord | undefined
  return {
    onUsage: (record) => {
      usage = record
    },
    onRequest: (request) => {
      const requestUsage =
        usage?.startedAt === request.startedAt && usage.requestedModel === request.model ? usage : undefined
      usage = undefined
      write(`${toOneLine(formatRequest(request, requestUsage))}\n`)
    },
  }
}

function formatRequest(
  { startedAt, durationMs, status, model, path, streamed, attempts }: RequestRecord,
  usage?: UsageRecord,
) {
  const way = attempts.map((attempt) => `${getTargetName(attempt)} ${attempt.status}`).join(', ')
  const parts = [
    new Date(startedAt).toISOString(),
    String(status),
    model === undefined ? path : JSON.stringify(model.slice(0, MAX_MODEL)),
    ...(way ? [`-> ${way}`] : []),
    `(${durationMs} ms${streamed ? ', streamed' : ''}${formatTokens(usage)})`,
  ]
  return parts.join(' ')
}

/** Maximum length of a model name in the log, because clients can send any name. */
const MAX_MODEL = 120

function formatTokens({ inputTokens, outputTokens }: Partial<UsageRecord> = {}): string {
  return inputTokens === undefined || outputTokens === undefined
    ? ''
    : `, ${inputTokens} tokens in, ${outputTokens} out`
}
