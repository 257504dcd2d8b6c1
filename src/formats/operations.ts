import type { JsonObject } from '../lib/json.ts'
import type { Kind, ProviderFormat } from '../types.ts'
import { type FailureClass, isEndpointMissing, lacksCompaction } from './errors/kinds.ts'
import { estimateTokens } from './estimate-tokens.ts'
import type { ErrorReader, Format } from './format.ts'

/** The names of the operations of formats. Those of other kinds have theirs in src/kinds. */
export type OperationName = 'generate' | 'count-tokens' | 'compact' | 'complete'

/**
 * An operation that clients request, in any format. The operations of formats are lines of the table below: each endpoint of a format names its
 * operation, `UpstreamFormat.answers` says how providers answer it, and `codec/translated.ts` how it is translated for providers of other formats.
 */
export interface Operation {
  readonly name: string
  /** The kind of the models that serve it. */
  readonly kind: Kind
  /** Other kinds that are served by it as well. */
  readonly alsoServes?: readonly Kind[]
  /** Models for chat that serve it as well. */
  isServedBy?(target: { format: ProviderFormat; model: string }): boolean
  /** Does such a failure end the request, so that no other target is tried? */
  endsAt(failure: { class: FailureClass; status?: number }): boolean
  /** Is it charged for once a provider has begun, so that another target is asked only after failures that have cost nothing? */
  readonly isPaidOnAcceptance?: true
  /** The limits that it has in place of the gateway's own defaults; those that the host or a rule sets come before. */
  readonly limits?: OperationLimits
  /** The treatment of providers that have no endpoint for it. Absent: their error is treated like any other. */
  readonly missing?: MissingEndpoint
}

/** In bytes and ms, as in the gateway's option `limits`. */
export type OperationLimits = Readonly<
  Partial<
    Record<'maxBodyBytes' | 'maxAnswerBytes' | 'headersTimeoutMs' | 'silenceTimeoutMs' | 'totalTimeoutMs', number>
  >
>

/** Ends a request with the failure that only its client can mend. */
export const endsAtClient: Operation['endsAt'] = (failure) => failure.class === 'client'

/** How the error of a provider shows that it has no endpoint for an operation, and what the gateway does then. */
interface MissingEndpoint {
  isMeant(error: { status: number; body: unknown; reader: ErrorReader }): boolean
  /** The failure class of such an attempt. */
  readonly class: FailureClass
  /** The missing ability, for error messages, such as "count tokens". */
  readonly what: string
  /** Is the same target asked again by way of translation, and from then on? */
  readonly isTranslated?: true
  /** The gateway's own answer, for when no target has the endpoint; `warning` names in the headers what it is. */
  ownAnswer?(body: JsonObject, format: Format): Promise<{ answer: JsonObject; warning: string }>
}

const generate = {
  name: 'generate',
  kind: 'llm',
  alsoServes: ['imageToText'], // which is a chat with an image
  endsAt: endsAtClient,
} as const satisfies Operation

/** All operations. */
export const operations = {
  /** An answer. */
  generate,
  /** The number of tokens of a request for an answer. */
  countTokens: {
    ...generate,
    name: 'count-tokens',
    missing: {
      isMeant: ({ status, body, reader }) => isEndpointMissing(status) || Boolean(reader.cannotCount?.(body)),
      class: 'client',
      what: 'count tokens',
      async ownAnswer(body, format) {
        const { counter } = await format.loadTranslator()
        const tokens = estimateTokens(body)
        return { answer: counter?.writeCount(tokens) ?? { input_tokens: tokens }, warning: 'estimated:input_tokens' }
      },
    },
  },
  /** A compaction of a conversation. */
  compact: {
    ...generate,
    name: 'compact',
    missing: {
      isMeant: ({ status, body }) => lacksCompaction(status, body),
      class: 'format',
      what: 'compact conversations',
      isTranslated: true,
    },
  },
  /** A completion in the sense of `/v1/completions`, which is only passed through. */
  complete: { ...generate, name: 'complete' },
} as const satisfies Record<string, Operation & { name: OperationName }>
