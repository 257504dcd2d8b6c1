import { Component, type ComponentChildren, type ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useAction, useSignal } from './data.ts'
import { clockTime } from './format.ts'
import { followLive } from './live.ts'
import Overview from './pages/overview.tsx'
import { linkTo, route } from './route.ts'
import { access, checkAccess, hasToken, lostAt, messageOf, signIn, signOut } from './session.ts'
import * as texts from './texts/frame.ts'
import { common } from './texts/frame.ts'
import { Button, Problem } from './ui/basics.tsx'
import { Form, TextField } from './ui/forms.tsx'

type PageName = keyof typeof texts.pages

/** The views; those that are not the first are loaded late. */
const pages: Readonly<Record<PageName, () => Promise<ComponentType>>> = {
  '': async () => Overview,
  keys: async () => (await late()).keys,
  usage: async () => (await late()).usage,
  requests: async () => (await late()).requests,
  targets: async () => (await late()).targets,
  combos: async () => (await late()).combos,
  models: async () => (await late()).models,
  playground: async () => (await late()).playground,
  cloud: async () => (await late()).cloud,
  settings: async () => (await late()).settings,
}

const late = () => import('./pages/late.ts')

export function App() {
  const { state } = access.value
  useEffect(() => {
    if (state === 'unknown') void checkAccess()
  }, [state])
  if (access.value.state === 'closed') return <SignIn why={access.value.why} />
  if (state === 'unknown') return <p class="loading">{common.loading}</p>
  return <Frame />
}

function Frame() {
  const { page } = route.value
  const title = isPage(page) ? texts.pages[page] : texts.unknownPage
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(followLive, [])
  useEffect(() => {
    document.title = `${title} – ${texts.product}`
    heading.current?.focus()
    document.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [title])
  return (
    <>
      <button type="button" class="skip" onClick={() => heading.current?.focus()}>
        {texts.skip}
      </button>
      <header class="bar">
        <a class="brand" href={linkTo('')}>
          {texts.product}
        </a>
        <nav aria-label={texts.product}>
          {Object.entries(texts.pages).map(([name, text]) => (
            <a key={name} href={linkTo(name)} aria-current={name === page ? 'page' : undefined}>
              {text}
            </a>
          ))}
        </nav>
        {hasToken.value && (
          <Button kind="quiet" onClick={() => signOut()}>
            {texts.signOut}
          </Button>
        )}
      </header>
      {lostAt.value !== undefined && (
        <p class="lost" role="status">
          {texts.connectionLost(clockTime(lostAt.value))}
        </p>
      )}
      <main id="content">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        <Guarded key={page}>
          <Late page={page} />
        </Guarded>
      </main>
    </>
  )
}

const isPage = (name: string): name is PageName => Object.hasOwn(texts.pages, name)

/** The view of a page, once its code is there. */
function Late({ page }: { page: string }) {
  const view = useSignal<ComponentType | undefined>(undefined)
  const error = useSignal<string | undefined>(undefined)
  const load = isPage(page) ? pages[page] : undefined
  const begin = () => {
    error.value = undefined
    load?.().then(
      (loaded) => {
        view.value = loaded
      },
      (thrown: unknown) => {
        error.value = messageOf(thrown)
      },
    )
  }
  useEffect(begin, [])
  if (!load) return <p>{texts.unknownPage}</p>
  if (error.value !== undefined) return <Problem onRetry={begin}>{error.value}</Problem>
  const View = view.value
  return View ? <View /> : <p class="loading">{common.loading}</p>
}

/** A view that fails says so, and leaves the frame. */
class Guarded extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  override state: { error?: unknown } = {}
  override componentDidCatch(error: unknown) {
    this.setState({ error })
  }
  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <Problem onRetry={() => this.setState({ error: undefined })}>{`${common.failed}: ${messageOf(error)}`}</Problem>
    )
  }
}

function SignIn({ why }: { why: string }) {
  const token = useSignal('')
  const signing = useAction(async () => signIn(token.value.trim()))
  return (
    <main class="sign-in">
      <h1>{texts.signInTitle}</h1>
      <Problem>{why || undefined}</Problem>
      <Form of={signing} submit={texts.signInButton} writes={false}>
        <TextField
          label={texts.signInToken}
          hint={texts.signInHint}
          type="password"
          autocomplete="current-password"
          required
          of={token}
        />
      </Form>
    </main>
  )
}
