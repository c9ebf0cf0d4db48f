# SPDX-License-Identifier: GPL-3.0-or-later
# Completion in zsh: words are typed into an interactive shell, with the tabulator key; the program
# and its completion are found in an installation.
# usage: zsh -f completion.zsh CMAKE BUILD
zmodload zsh/zpty
place=$(mktemp -d)
trap 'rm -rf $place' EXIT
$1 --install $2 --prefix $place/prefix >$place/log 2>&1 || { cat $place/log; exit 1 }
bad=0

zpty shell zsh -f -i
# say LINE MARK: send a line to the shell, and read until it has printed the mark.
say() {
    zpty -w shell $1
    zpty -r -m shell answer "*$2*" || { print -r "no answer to: $1"; exit 1 }
}
say "PS1=; cd $place; path=($place/prefix/bin \$path)
    fpath=($place/prefix/share/zsh/site-functions \$fpath)
    autoload -U compinit; compinit -u -D; touch drift.yaml drift.pals.yaml; print re'ady'" ready

# typed WORDS COMPLETED: the words, a tabulator and # give the line, which the shell then prints.
typed() {
    say "print -r -- '<'"$'\C-a\C-k'"$1"$'\t\C-a'"print -r -- '<' "$'\C-e'"'>'" '< * *>*'
    [[ $answer == *"< $2"(|' ')'>'* ]] || { print -r "$1: expected $2, got: ${(V)answer}"; bad=1 }
}
typed 'arcwake ins' 'arcwake inspect'
typed 'arcwake run --sto' 'arcwake run --stop-after'
typed 'arcwake run --solver het' 'arcwake run --solver heterogeneous'
typed 'arcwake run dr' 'arcwake run drift.yaml'
typed 'arcwake validate zeu' 'arcwake validate zeuthen'
typed 'arcwake no-such-command' 'arcwake no-such-command'
exit $bad
