import { type Child, childProgram } from '../../storage/support/children.ts'
import { now, type Order, type Reply } from './orders.ts'

/** Gateways on one store, each in its own process. */
export interface Processes {
  /** Sends an order to one process. */
  one<Result = Reply>(index: number, order: Order): Promise<Result>
  /** Sends an order to each process. All start at the same moment. */
  all<Result = Reply>(orderOf: (index: number) => Order): Promise<Result[]>
  end(): Promise<void>
}

export const COUNT = 4
const SECRET = 'a secret that all processes of a test have'
const TOKEN = 'a-management-token-of-32-characters-or-more'
/** The time for an order to reach all processes, in ms. */
const SPREAD_MS = 8

export type Program = Awaited<ReturnType<typeof childProgram>>

export const gatewayProgram = (): Promise<Program> => childProgram(new URL('./process.ts', import.meta.url))

/** Starts four processes. */
export async function startProcesses(program: Program, location: string): Promise<Processes> {
  const children = Array.from({ length: COUNT }, () => program.start(location, SECRET, TOKEN))
  await Promise.all(children.map((child) => child.output('ready')))
  let last = 0

  async function send<Result>(child: Child | undefined, order: Order, index = 0): Promise<Result> {
    const number = ++last
    child?.go(JSON.stringify({ number, at: index, order }))
    const line = (await child?.output(`${number} `)) ?? ''
    const result = JSON.parse(line.slice(line.indexOf(' ') + 1))
    if (result?.error && !('status' in result)) throw new Error(result.error)
    return result
  }

  return {
    one: (index, order) => send(children[index], order),
    all<Result>(getOrder: (index: number) => Order) {
      const timestamp = now() + SPREAD_MS
      return Promise.all(children.map((child, index) => send<Result>(child, getOrder(index), timestamp)))
    },
    async end() {
      for (const child of children) child.process.stdin?.end()
      await Promise.all(children.map((child) => child.ended()))
    },
  }
}
