/** The pages whose shell commands, JSON bodies, and YAML files `commands.test.ts` runs, and what their commands must print. */
export const COMMAND_PAGES: Record<string, RegExp> = {
  'src/cli/README.md': /"name": "me"/,
  'src/admin/README.md': /"requireApiKey":true[\s\S]*"content":"Hello"[\s\S]*\[DONE\]/,
  'src/protocols/providers/README.md': /./,
  'src/request/routing/README.md': /"use":"first"/,
  'src/features/cloud-sync/README.md': /./,
  'src/features/usage/README.md': /No usage in this period/,
}
