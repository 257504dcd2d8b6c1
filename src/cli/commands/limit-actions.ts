import type { GatewayLimitOperations, LimitOperations } from '../../features/limits/limit-operations.ts'
import type { LimitState } from '../../types.ts'
import { type ActionCall, type CliAction, printedList } from './command.ts'
import { text } from './field-options.ts'
import type { Column } from './text-table.ts'

const columns: readonly Column<LimitState>[] = [
  ['SCOPE', ({ scope }) => scope],
  ['ID', ({ id }) => id],
  ['LIMIT', ({ unit, window }) => (window === null ? unit : `${unit}.${window}`)],
  ['MAX', ({ limit }) => String(limit)],
  ['USED', ({ used }) => String(used)],
  ['RESERVED', ({ reserved }) => String(reserved)],
  ['UNSETTLED', ({ unsettled }) => String(unsettled)],
  ['LEFT', ({ remaining }) => String(remaining)],
  ['RESETS', ({ resetsAt }) => resetsAt ?? undefined],
]

/** The operations on the limits of one key or group. */
export const limitsOf = (limits: LimitOperations<unknown>, id: string): GatewayLimitOperations<unknown> => ({
  get: () => limits.get(id),
  reset: () => limits.reset(id),
  settle: (input) => limits.settle(id, input),
})

/** The actions on the limits of what the word names, or of the gateway. */
export function limitActions(
  word: string | undefined,
  find: (call: ActionCall) => Promise<GatewayLimitOperations<unknown>>,
) {
  const words = word === undefined ? {} : { words: [word] }
  return {
    limits: {
      help: 'Show all limits that apply, with usage and remaining amounts',
      ...words,
      async run(call) {
        const body = await (await find(call)).get()
        return printedList(body, { columns, all: body.limits, none: 'There are no limits.' })
      },
    },
    'limits reset': {
      help: 'Reset the usage counters',
      ...words,
      run: async (call) => ({ body: await (await find(call)).reset(), text: 'Usage counters reset.\n' }),
    },
    'limits settle': {
      help: 'Settle the reservations of lost instances',
      ...words,
      fields: { as: text('as', 'unspent', 'Count them as spent (default) or unspent') },
      run: async (call) => ({
        body: await (await find(call)).settle(call.input),
        text: 'Reservations of lost instances have been settled.\n',
      }),
    },
  } satisfies Record<string, CliAction>
}
