import type { JsonObject } from '../../lib/json.ts'
import type { Kind, ProviderFormat } from '../../types.ts'
import type { FailureClass, lacksCompaction } from './errors/error-kinds.ts'
import { estimateTokens } from './estimate-tokens.ts'
import type { ErrorReader, Format } from './format.ts'

/** The names of the operations that formats define. For other kinds, see src/protocols/kinds. */
export type OperationName = 'generate' | 'count-tokens' | 'compact' | 'complete'

/**
 * An operation that clients request, in any format. The table below lists the operations that formats define. Each of a format's endpoints names its
 * operation, `UpstreamFormat.loadReaders` reads providers' responses to it, and `request/codec/translating-codec.ts` translates it for providers with
 * other formats.
 */
export interface Operation {
  readonly name: string
  /** The kind of models that support the operation. */
  readonly kind: Kind
  /** Other kinds of models that also support the operation. */
  readonly alsoServes?: readonly Kind[]
  /** Returns whether this chat model also supports the operation. */
  isServedBy?(target: { format: ProviderFormat; model: string }): boolean
  /** Returns whether this failure ends the request, so that no other target is tried. */
  isFinal(failure: EndingFailure): boolean
  /** Set if vendors differ so much that another target is tried after any rejection, except a content rejection. */
  readonly tryOthers?: true
  /** Set if requests are billed once a provider has started, so that another target is only tried after failures that cost nothing. */
  readonly isPaidOnAcceptance?: true
  /** Limits that replace the gateway's defaults. Limits in the options or in a rule take precedence. */
  readonly limits?: OperationLimits
  /** Handles providers without an endpoint for the operation. If absent, their errors are treated like any others. */
  readonly missing?: MissingEndpoint
}

/** The parts of a failure that determine whether to try another target. */
interface EndingFailure {
  class: FailureClass
  status?: number
  /** Set if another target may accept what this one rejected. */
  tryOthers?: true
}

/** Limits in bytes and ms, as in the gateway's `limits` option. */
type OperationLimits = Readonly<
  Partial<Record<'maxBodyBytes' | 'maxResponseBytes' | 'headersTimeoutMs' | 'idleTimeoutMs' | 'totalTimeoutMs', number>>
>

/** Ends the request if only the client can fix the failure, regardless of the target. */
export const isFinalForClient: Operation['isFinal'] = (failure) => failure.class === 'client' && !failure.tryOthers

/** A provider's error, and the functions that can read it. */
interface MissingEndpointEvidence {
  status: number
  body: unknown
  reader: ErrorReader
  lacksCompaction: typeof lacksCompaction
}

/** Returns whether this status means that the provider has no endpoint for counting tokens or compaction. Most compatible vendors have none. */
export const isEndpointMissing = (status: number): boolean => status === 404 || status === 405 || status === 501

/** Recognizes and handles providers without an endpoint for an operation. */
interface MissingEndpoint {
  matches(error: MissingEndpointEvidence): boolean
  /** The failure class of an attempt at such a provider. */
  readonly class: FailureClass
  /** The missing ability, for error messages, such as "count tokens". */
  readonly capability: string
  /** Set if the gateway retries this request in translated form, and translates all later requests to this target. */
  readonly isTranslated?: true
  /** Returns the gateway's own response if no target has the endpoint. `warning` describes the response in the headers. */
  getResponse?(body: JsonObject, format: Format): Promise<{ response: JsonObject; warning: string }>
}

const generate = {
  name: 'generate',
  kind: 'llm',
  alsoServes: ['imageToText'], // for chats that contain an image
  isFinal: isFinalForClient,
} as const satisfies Operation

/** All operations. */
export const operations = {
  generate,
  /** Counts a request's tokens. */
  countTokens: {
    ...generate,
    name: 'count-tokens',
    missing: {
      matches: ({ status, body, reader }) => isEndpointMissing(status) || Boolean(reader.rejectsCounting?.(body)),
      class: 'client',
      capability: 'count tokens',
      async getResponse(body, format) {
        const { tokenCounter } = await format.loadTranslator()
        const tokens = estimateTokens(body)
        return {
          response: tokenCounter?.writeCount(tokens) ?? { input_tokens: tokens },
          warning: 'estimated:input_tokens',
        }
      },
    },
  },
  /** Compacts a conversation. */
  compact: {
    ...generate,
    name: 'compact',
    missing: {
      matches: ({ status, body, lacksCompaction: lacks }) => lacks(status, body),
      class: 'format',
      capability: 'compact conversations',
      isTranslated: true,
    },
  },
  /** Completes text as in `/v1/completions`, which is only passed through. */
  complete: { ...generate, name: 'complete' },
} as const satisfies Record<string, Operation & { name: OperationName }>
