import * as v from 'valibot'
import type { AccountReaders } from '../../../features/limits/account-routes.ts'
import { kinds } from '../../../types/unions.ts'
import { limitState } from '../../limit-schema.ts'

const textOrNull = v.nullable(v.string())
const numberOrNull = v.nullable(v.number())

/** The summary and the response schema of each path where a caller reads its own limits. */
export const accounts: Readonly<Record<keyof AccountReaders, { summary: string; schema: v.GenericSchema }>> = {
  account: {
    summary: "Get the caller's account, key, and limits, with used and remaining amounts and reset times",
    schema: v.object({
      object: v.literal('account'),
      id: v.exactOptional(v.string()),
      name: v.exactOptional(textOrNull),
      plan: v.exactOptional(textOrNull),
      key: v.nullable(
        v.object({
          id: v.string(),
          name: v.string(),
          expiresAt: textOrNull,
          group: v.nullable(v.object({ id: v.string(), name: v.string() })),
          models: v.nullable(v.array(v.string())),
          kinds: v.nullable(v.array(v.picklist(kinds))),
        }),
      ),
      limits: v.array(limitState),
    }),
  },
  openRouterKey: {
    summary: "Get the caller's key and its dollar limit (OpenRouter)",
    schema: v.object({
      data: v.object({
        label: v.string(),
        limit: numberOrNull,
        limit_remaining: numberOrNull,
        limit_reset: textOrNull,
        usage: numberOrNull,
        usage_daily: numberOrNull,
        usage_weekly: numberOrNull,
        usage_monthly: numberOrNull,
        byok_usage: v.number(),
        byok_usage_daily: v.number(),
        byok_usage_weekly: v.number(),
        byok_usage_monthly: v.number(),
        include_byok_in_limit: v.boolean(),
        is_free_tier: v.boolean(),
        is_provisioning_key: v.boolean(),
        is_management_key: v.boolean(),
        creator_user_id: textOrNull,
        expires_at: textOrNull,
        rate_limit: v.object({ requests: v.number(), interval: v.string(), note: v.string() }),
      }),
    }),
  },
  openRouterCredits: {
    summary: "Get the caller's dollar limit and spending (OpenRouter)",
    schema: v.object({ data: v.object({ total_credits: numberOrNull, total_usage: numberOrNull }) }),
  },
}
