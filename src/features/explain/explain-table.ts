import * as v from 'valibot'
import type { OperationEntries } from '../../admin/operation-table.ts'
import { allOptional, named, number, text, texts, whole } from '../../admin/output-schemas.ts'
import { EFFORTS } from '../../protocols/formats/canonical/base-traits.ts'
import { type Explain, explainInput } from './explain.ts'

const explanation = named(
  'Explanation',
  v.object({
    model: text,
    targets: v.array(
      v.object({
        provider: text,
        model: text,
        connectionId: text,
        connection: text,
        use: v.picklist(['first', 'next', 'beyond', 'last-resort', 'skipped']),
        why: text,
        params: v.exactOptional(
          v.object(
            allOptional({
              maxTokens: number,
              temperature: number,
              topP: number,
              topK: number,
              stopSequences: texts,
              seed: number,
              presencePenalty: number,
              frequencyPenalty: number,
              reasoning: v.picklist(EFFORTS),
            }),
          ),
        ),
        via: v.exactOptional(text),
      }),
    ),
    leftOut: v.array(v.object({ combo: text, model: text, unmet: text })),
    error: v.exactOptional(v.object({ status: whole, code: text, message: text })),
  }),
)

export const explainEntry = {
  method: 'POST',
  path: '/api/explain',
  failure: 'explain',
  input: explainInput,
  output: explanation,
  summary: 'Explain how a request would be routed',
  description: 'The targets of the request, in order. Calls no provider and does not change round-robin positions.',
} satisfies OperationEntries<Explain>
