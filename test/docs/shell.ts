import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

/** A temporary folder in which commands from the documentation run as written. */
export interface Shell {
  folder: string
  /** Runs a script to completion. Resolves to its standard output. Rejects if one of its commands fails. */
  run(script: string, env?: Record<string, string>): Promise<string>
  remove(): Promise<void>
}

/** Opens a shell in which `npx signalbox` and `npm start -s --` run the built command. `curl` prints an error response and fails. */
export async function openShell(): Promise<Shell> {
  const location = await mkdtemp(join(tmpdir(), 'signalbox-docs-'))
  const bin = join(location, 'bin')
  const folder = join(location, 'work')
  await mkdir(bin)
  await mkdir(folder)
  await program(bin, 'npx', `[ "$1" = signalbox ] || exit 9\nshift\nexec '${process.execPath}' '${command}' "$@"`)
  await program(bin, 'curl', `PATH=\${PATH#*:}\nexec curl --silent --show-error --fail-with-body "$@"`)
  const path = [bin, dirname(process.execPath), process.env.PATH].join(delimiter)

  return {
    folder,
    run: (script, env = {}) =>
      new Promise((resolve, reject) => {
        const child = spawn('/bin/sh', ['-e', '-c', script], {
          cwd: folder,
          env: { HOME: folder, PATH: path, ...env },
          stdio: ['ignore', 'pipe', 'pipe'],
        })
        let stdout = ''
        let stderr = ''
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          stdout += text
        })
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          stderr += text
        })
        child.on('error', reject)
        child.on('close', (code) => {
          if (code === 0) resolve(stdout)
          else reject(new Error(`exit code ${code} of:\n${script}\n${stdout}${stderr}`))
        })
      }),
    remove: () => rm(location, { recursive: true, force: true }),
  }
}

async function program(folder: string, name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`)
  await chmod(join(folder, name), 0o755)
}
