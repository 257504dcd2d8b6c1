import type { NamedOperation } from '../../src/admin/operation-table.ts'
import { runCommand } from '../../src/cli/commands/run-command.ts'
import { isProblem } from '../../src/cli/problem.ts'
import { TOKEN } from '../management/open-management.ts'

/** Runs a command in this process, and prints errors like the CLI does. A string is split at spaces. */
export async function runHere(
  url: string,
  line: string | string[],
  { env = {}, input = '', operations }: { env?: object; input?: string; operations?: NamedOperation[] } = {},
) {
  let out = ''
  let err = ''
  const terminal = {
    out: (text: string) => {
      out += text
    },
    err: (text: string) => {
      err += text
    },
  }
  const variables = { SIGNALBOX_URL: url, SIGNALBOX_ADMIN_TOKEN: TOKEN, ...env }
  const args = typeof line === 'string' ? line.split(' ') : line
  const code = await runCommand(args, { variables, stdin: async () => input, terminal, operations }).then(
    () => 0,
    (error: unknown) => {
      if (!isProblem(error)) throw error
      err += `${error.message}\n`
      return error.exitCode
    },
  )
  return { code, out, err }
}
