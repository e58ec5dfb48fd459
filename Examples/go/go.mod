module agent

go 1.19
