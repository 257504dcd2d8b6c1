import type { GatewayLimitOperations, LimitOperations } from '../../management/limits.ts'
import type { LimitState } from '../../types.ts'
import { type ActionCall, type CliAction, printedList } from './command.ts'
import { text } from './fields.ts'
import type { Column } from './text-table.ts'

const columns: readonly Column<LimitState>[] = [
  ['OF', ({ scope }) => scope],
  ['ID', ({ id }) => id],
  ['LIMIT', ({ unit, window }) => (window === null ? unit : `${unit}.${window}`)],
  ['MOST', ({ limit }) => String(limit)],
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
      help: 'All limits that hold, what is used of them and what is left',
      ...words,
      async run(call) {
        const body = await (await find(call)).get()
        return printedList(body, { columns, all: body.limits, none: 'There are no limits.' })
      },
    },
    'limits reset': {
      help: 'Starts the counters anew',
      ...words,
      run: async (call) => ({ body: await (await find(call)).reset(), text: 'The counters start anew.\n' }),
    },
    'limits settle': {
      help: 'Ends what instances that are gone had reserved',
      ...words,
      fields: { as: text('as', 'unspent', 'How it counts: spent (the default) or unspent') },
      run: async (call) => ({
        body: await (await find(call)).settle(call.input),
        text: 'What instances that are gone had reserved is settled.\n',
      }),
    },
  } satisfies Record<string, CliAction>
}
