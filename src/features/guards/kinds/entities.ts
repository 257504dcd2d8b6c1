const readPairs = (pairs: string) =>
  pairs
    .trim()
    .split(/\s+/)
    .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const)

/** The characters of HTML entities, by lowercase name: punctuation, letters, look-alike characters, and invisible ones. */
export const entities: ReadonlyMap<string, string> = new Map([
  ...readPairs(String.raw`
    amp=& lt=< gt=> quot=" apos=' commat=@ period=. comma=, colon=: semi=; lowbar=_ underbar=_ hyphen=- dash=- ndash=- mdash=- minus=- num=# percnt=%
    plus=+ equals== ast=* midast=* sol=/ bsol=\ lpar=( rpar=) lsqb=[ lbrack=[ rsqb=] rbrack=] lcub={ lbrace={ rcub=} rbrace=} vert=| verbar=|
    verticalline=| grave=${'`'} diacriticalgrave=${'`'} hat=^ dollar=$ excl=! quest=? lsquo=' rsquo='
    alpha=α beta=β gamma=γ epsilon=ε epsi=ε zeta=ζ eta=η iota=ι kappa=κ mu=μ nu=ν omicron=ο rho=ρ sigmaf=ς tau=τ upsilon=υ upsi=υ chi=χ omega=ω
    acy=а vcy=в iecy=е kcy=к mcy=м ncy=н ocy=о rcy=р scy=с tcy=т ucy=у khcy=х iukcy=і jsercy=ј dscy=ѕ jukcy=є
    ee=e exponentiale=e ii=i dd=d capitaldifferentiald=d differentiald=d planck=h planckh=h hbar=h ell=l order=o orderof=o real=r reals=r realpart=r
    re=r im=i image=i imagpart=i naturals=n complexes=c primes=p rationals=q quaternions=h integers=z zeetrf=z hilbertspace=h laplacetrf=l lagran=l
    bernoullis=b bernou=b fouriertrf=f mellintrf=m phmmat=m weierp=p wp=p circleds=s os=s circledr=r reg=r copy=c inodot=i imath=i jmath=j angst=a
    szlig=ss aelig=ae oelig=oe fflig=ff filig=fi fllig=fl ffilig=ffi ffllig=ffl fjlig=fj ijlig=ij thorn=þ eth=ð lmidot=l
    pound=£ yen=¥ cent=¢ euro=€ sect=§ micro=µ times=× cup=∪ vee=∨ or=∨ isin=∈ top=⊤ mid=∣ part=∂
  `),
  ...[
    'nbsp',
    'ensp',
    'emsp',
    'emsp13',
    'emsp14',
    'numsp',
    'puncsp',
    'thinsp',
    'hairsp',
    'mediumspace',
    'tab',
    'newline',
  ].map((name) => [name, ' '] as const),
  ...[
    'shy',
    'zwj',
    'zwnj',
    'lrm',
    'rlm',
    'nobreak',
    'af',
    'it',
    'ic',
    'applyfunction',
    'invisibletimes',
    'invisiblecomma',
  ].map((name) => [name, ''] as const),
  ...['zerowidth', 'negativethin', 'negativemedium', 'negativethick', 'negativeverythin'].map(
    (name) => [`${name}space`, ''] as const,
  ),
])
