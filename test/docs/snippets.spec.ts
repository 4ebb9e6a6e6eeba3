import { pages, snippetsOf, useCompiler } from './snippets.js';

describe('the snippets of README and docs', () => {
  const compile = useCompiler();
  const snippets = pages().flatMap(snippetsOf);

  it('in TypeScript compile under strict as they stand', () => {
    const own = snippets.filter(({ language, isQuote }) => language === 'ts' && !isQuote);
    expect(own.length).toBeGreaterThan(8);
    expect(compile(own)).toEqual([]);
  });

  it('run what @nestjs/schedule must run: a module without ScheduleModule would do nothing', () => {
    const applications = snippets.filter(
      ({ code }) => /@(Cron|Interval|Timeout)\(/.test(code) && /@Module\(/.test(code),
    );
    expect(applications.length).toBeGreaterThan(2);
    const silent = applications.filter(({ code }) => !code.includes('ScheduleModule.forRoot()'));
    expect(silent.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  });

  it('in JSON can be parsed', () => {
    const written = snippets.filter(({ language }) => language === 'json');
    for (const { code } of written) expect(() => JSON.parse(code)).not.toThrow();
  });

  it('are found to be wrong where they are', () => {
    const wrong = { page: 'README.md', line: 7, language: 'ts', isQuote: false };
    const codes = [
      "await gatekeeper.run('job', () => 1, {\n  hold: false });\n",
      "import { no } from 'nestjs-gatekeeper';\n",
    ];
    expect(compile(codes.map((code) => ({ ...wrong, code })))).toEqual([
      expect.stringMatching(/^README\.md:8: .*'hold' does not exist/),
      expect.stringMatching(/^README\.md:7: .*no exported member 'no'/),
    ]);
  });
});
