import { defaults } from './options.ts'

/** What `--help` prints. */
export const help = `Signalbox: one gateway in front of your own model providers.

Usage: signalbox [options]
       npm start -- [options]     in a clone of the repository

  --port <number>    Port to listen on, 0 for any free one. Default: ${defaults.port}
  --host <address>   Address to listen on. Default: ${defaults.host}, reached from this machine only
  --allowed-host <name>
                     Name of this gateway that is answered beside localhost and IP addresses, several times or
                     with commas. A gateway on a loopback address answers no other name; on others, every name
                     is answered unless this is given.
  --allowed-origin <origin>
                     Origin of pages that may call /v1 from elsewhere, such as https://app.example; several times
                     or with commas. /api stays closed to them.
  --data <folder>    Where everything is kept; made when missing. Default: ${defaults.data}
  --demo             Adds a provider that runs inside the gateway and two combos, "demo" and "demo-messages",
                     whose first target always fails. They join what is in the data folder, leave nothing
                     in it, and are gone when the gateway stops.
  --config <file>    JSON or YAML with "settings", "connections", "combos", "aliases", "customModels" and "keys", which
                     are written at each start; \${NAME} in it stands for a variable of the environment
  --open             Serves other machines than this one although no key is required of clients
  --no-env           Makes no connections of OPENAI_API_KEY and the like
  --new-token        Replaces the admin token; the old one no longer opens anything
  --log              Prints one line for each model request; never a key, a header or a body
  -h, --help         Prints this
  -v, --version      Prints the version

Environment:
  SIGNALBOX_ADMIN_TOKEN   The admin token, 32 characters or more, in place of the one made on the first start
  SIGNALBOX_SECRET        Seals the credentials in the data folder, in place of the secret kept beside them;
                          32 characters or more
  OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY and others
                          Connect these providers for as long as they are set, unless --demo or --no-env is given

SIGTERM or Ctrl-C stops it: nothing new is accepted, and answers under way have 10 s to finish. Another one, a
second later or more, ends it at once.
Exit codes: 0 stopped when told to, 1 could not start or go on, 2 wrong option.
`
